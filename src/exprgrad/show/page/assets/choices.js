// One of some options.
function choices(legend, name, options, onchange) {
  const made = make("fieldset", null, make("legend", null, legend));
  for (const [value, words] of Object.entries(options))
    made.append(make("label", null, make("input", {type: "radio", name, value, onchange: () => onchange(value)}), ` ${words}`));
  return made;
}
const check = (name, value) => {
  for (const radio of document.getElementsByName(name)) radio.checked = radio.value === value;
};
