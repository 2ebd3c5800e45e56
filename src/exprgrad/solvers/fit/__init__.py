"""Parameters that fit data: by least squares, by robust losses, and by likelihoods."""
