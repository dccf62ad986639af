/**
 * Prints bindings/js/methods.ts: a class whose methods are the operations of bindings/js/ops. An exported function
 * that takes an engine first, and whose comment has an example, is an operation. Its method has the same comment, and
 * the same parameters without the engine.
 *
 *   node bindings/print_methods.mjs
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const folder = join(import.meta.dirname, "js");
const isExported = ({ modifiers }) =>
  modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** A file of operations: its operations, and the names that it exports or imports, with the files that export them. */
function read(name) {
  const text = readFileSync(join(folder, "ops", name), "utf8");
  const { statements } = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const sources = new Map();
  for (const one of statements) {
    if (ts.isImportDeclaration(one)) {
      const path = join("ops", one.moduleSpecifier.text);
      for (const { name, propertyName = name } of one.importClause.namedBindings.elements)
        sources.set(name.text, { path, name: propertyName.text });
    } else if (isExported(one) && one.name) {
      const path = join("ops", name.replace(/ts$/, "js"));
      sources.set(one.name.text, { path, name: one.name.text });
    }
  }
  const functions = statements.filter(
    (one) =>
      ts.isFunctionDeclaration(one) &&
      isExported(one) &&
      one.parameters[0]?.type?.getText() === "Engine",
  );
  const overload = functions.find(({ body }) => !body);
  if (overload) throw new Error(`${name}: ${overload.name.text} must have no overloads`);
  return functions
    .filter((one) => ts.getJSDocTags(one).some(({ tagName }) => tagName.text === "example"))
    .map((operation) => ({ operation, sources }));
}

/** The names of types in a part of a declaration. */
const typesIn = (node) => [
  ...(ts.isTypeReferenceNode(node) ? [node.typeName.getText()] : []),
  ...node.getChildren().flatMap(typesIn),
];

function printed({ operation }) {
  const { name, typeParameters, parameters, type } = operation;
  const [comment] = ts.getJSDocCommentsAndTags(operation);
  const given = parameters.slice(1);
  const declared = given.map((one) => {
    const isOptional = one.questionToken || one.initializer;
    return `${one.name.getText()}${isOptional ? "?" : ""}: ${one.type.getText()}`;
  });
  const generic = typeParameters
    ? `<${typeParameters.map((one) => one.getText()).join(", ")}>`
    : "";
  const passed = ["engineOf(this)", ...given.map((one) => one.name.getText())].join(", ");
  return `  ${comment.getText().replace(/^ \*/gm, "   *")}
  ${name.text}${generic}(${declared.join(", ")}): ${type.getText()} {
    return ${name.text}(${passed});
  }
`;
}

/** The imports of the operations, and of the types that their declarations name. */
function imports(all) {
  const lines = new Map();
  const add = (keyword, { path, name }) => {
    const key = `${keyword} %s from "./${path}";`;
    lines.set(key, (lines.get(key) ?? new Set()).add(name));
  };
  for (const { operation, sources } of all) {
    add("import", sources.get(operation.name.text));
    const { typeParameters = [], parameters, type } = operation;
    for (const name of [...typeParameters, ...parameters.slice(1), type].flatMap(typesIn))
      if (sources.has(name)) add("import type", sources.get(name));
  }
  return [...lines].map(([line, names]) => line.replace("%s", `{ ${[...names].join(", ")} }`));
}

const operations = readdirSync(join(folder, "ops")).sort().flatMap(read);
const text = `// The operations as methods, printed by bindings/print_methods.mjs.

import { engineOf, WithEngine } from "./core/withEngine.js";
${imports(operations).join("\n")}
export abstract class Operations extends WithEngine {
${operations.map(printed).join("\n")}}
`;
writeFileSync(join(folder, "methods.ts"), text);
