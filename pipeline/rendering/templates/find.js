"use strict";
const items = [...document.querySelectorAll(".item")].map((node) => [node, node.textContent.toLowerCase()]);
const boxes = [...document.querySelectorAll("section, aside, details.reason")].map((node) => [node, node.open]);
const finder = document.getElementById("finder"), find = document.getElementById("find");
const count = document.getElementById("count");
let kind = "";
function show() {
  const wanted = find.value.trim().toLowerCase(), all = !kind && !wanted;
  let seen = 0;
  for (const [node, words] of items) {
    const fits = (!kind || node.dataset.kind === kind) && (!wanted || words.includes(wanted));
    node.hidden = !fits;
    seen += fits;
  }
  for (const [box, open] of boxes) {
    box.hidden = !all && !box.querySelector(".item:not([hidden])");
    if (box.localName === "details") box.open = all ? open : true;
  }
  count.textContent = `${seen.toLocaleString("en")} shown 条`;
}
find.addEventListener("input", show);
finder.addEventListener("submit", (event) => event.preventDefault());
for (const button of finder.querySelectorAll("button")) {
  button.addEventListener("click", () => {
    kind = button.dataset.kind;
    for (const other of finder.querySelectorAll("button")) other.setAttribute("aria-pressed", other === button);
    show();
  });
}
finder.hidden = false;
show();
