// Whether a node's data, or its grad, has fewer right digits than are shown: that is known of the numbers that the page
// was made for, and of no others.

const isVague = (id, kind) => !app.given.size && Boolean(PAGE.vague?.[kind].includes(id)) && known(numbersIn(kind)[id]);
const FEWER = "fewer right digits than shown";
const tilde = (id, kind) => isVague(id, kind) ? "~" : "";
const vagueWords = (id, kind) => isVague(id, kind) ? ", with " + FEWER : "";
const lossesNow = () => app.given.size ? [] : PAGE.losses ?? [];
const lossNotes = ["How many digits are right is known of the numbers that the page was made for, and of no others."];
