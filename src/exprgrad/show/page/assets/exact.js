// On most pages all numbers have the digits that are shown; on others see vague.js.

const isVague = () => false, tilde = () => "", vagueWords = tilde, FEWER = "", lossNotes = [], lossesNow = () => lossNotes;
