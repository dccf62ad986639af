// On a narrow page the lists are closed until a person opens them.
if (matchMedia("(max-width: 63.99rem)").matches)
  for (const list of document.querySelectorAll("nav details")) list.open = false;

// The field that filters the names of the reference in the contents of the page.
const field = document.querySelector("[data-filter]");
if (field) {
  field.closest(".filter").hidden = false;
  const items = [...document.querySelectorAll(".outline li")];
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    document.querySelector(".outline details").open ||= wanted !== "";
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted);
  });
}
