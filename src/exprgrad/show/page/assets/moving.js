// All that moves is there: each begins in its place.

for (const place of lives) LIVE[place.dataset.live](place);
