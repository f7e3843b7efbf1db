"use strict";
(() => {
  const cards = [...document.querySelectorAll(".card")];
  const marks = [...document.querySelectorAll("[data-cards]")];
  const chips = [...document.querySelectorAll("button.chip")];
  const uncertain = {{ uncertain|map(attribute="value")|list|tojson }};
  const of = (mark) => mark.dataset.cards.split(" ").filter(Boolean).map(Number);
  const marksOf = new Map();
  for (const mark of marks) for (const card of of(mark)) marksOf.set(card, [...(marksOf.get(card) || []), mark]);
  let current = -1;

  const paint = (style, card, on) => {
    cards[card].classList.toggle(style, on);
    for (const mark of marksOf.get(card) || []) mark.classList.toggle(style, on);
  };
  const show = (element, block) => element.scrollIntoView({ block, behavior: "instant" });
  const select = (card, moved) => {
    if (current >= 0) paint("on", current, false);
    current = card;
    paint("on", card, true);
    history.replaceState(null, "", "#" + encodeURIComponent(cards[card].dataset.name));
    const first = (marksOf.get(card) || [])[0];
    if (first && moved !== first) show(first, "center");
    if (moved !== cards[card]) show(cards[card], "center");
  };
  const step = (by) => {
    for (let next = current + by; next >= 0 && next < cards.length; next += by)
      if (!cards[next].classList.contains("hidden")) return select(next);
  };
  const filter = () => {
    const shown = new Set(chips.filter((chip) => chip.ariaPressed === "true").map((chip) => chip.dataset.fate));
    for (const card of cards) card.classList.toggle("hidden", !shown.has(card.dataset.fate));
  };
  const press = (chip, on) => { chip.ariaPressed = String(on); };

  cards.forEach((card, index) => {
    card.addEventListener("click", (event) => { if (!event.target.closest("summary")) select(index, card); });
    card.addEventListener("mouseenter", () => paint("over", index, true));
    card.addEventListener("mouseleave", () => paint("over", index, false));
  });
  for (const mark of marks) {
    mark.addEventListener("click", () => {
      const [first, ...more] = of(mark);
      if (first === undefined) return;
      select(more.includes(current) ? more[more.indexOf(current) + 1] ?? first : current === first && more.length ? more[0] : first, mark);
    });
    mark.addEventListener("mouseenter", () => of(mark).forEach((card) => paint("over", card, true)));
    mark.addEventListener("mouseleave", () => of(mark).forEach((card) => paint("over", card, false)));
  }
  for (const chip of chips) chip.addEventListener("click", () => { press(chip, chip.ariaPressed !== "true"); filter(); });
  for (const button of document.querySelectorAll("[data-step]"))
    button.addEventListener("click", () => step(Number(button.dataset.step)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
    if (event.key === "u") {
      const all = chips.every((chip) => chip.ariaPressed === "true");
      for (const chip of chips) press(chip, !all || uncertain.includes(chip.dataset.fate));
      filter();
    }
  });
  const follow = () => {
    const named = decodeURIComponent(location.hash.slice(1));
    const asked = cards.findIndex((card) => card.dataset.name === named);
    if (asked >= 0 && asked !== current) select(asked);
  };
  addEventListener("hashchange", follow);
  follow();
})();
