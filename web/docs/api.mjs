/**
 * Reads the public API from the declarations of the built package, by TypeDoc: every exported symbol and its own
 * members, with its declaration as TypeScript prints it and its comment as Markdown.
 *
 * TypeDoc's own pages are not used, because they need inline scripts, inline styles and data: addresses, which the
 * site's policy forbids.
 */
import { Application, Converter, ReflectionKind } from "typedoc";
import ts from "typescript";
import { entries, rootOf } from "./entries.mjs";

/**
 * @typedef {object} ApiSymbol
 * @property {string} id the anchor within the reference, such as "heed.Heed.attention"
 * @property {string} name the name in programs, such as "nn.Linear" or "attention"
 * @property {string} entry "heed", "heed/nn", ...
 * @property {"function" | "class" | "type" | "variable" | "method" | "constructor" | "property"} kind
 * @property {string} code the declaration, without the members of a class or an interface
 * @property {string} summary Markdown, as are all further texts
 * @property {{ name: string, text: string }[]} parameters the described parameters
 * @property {string} returns
 * @property {string[]} throws
 * @property {string[]} examples the source texts of the examples
 * @property {ApiSymbol[]} members
 */

/** Members that every class has, for printing; they need no description. */
const usual = /^(\[.*\]|toString|toJSON)$/;

/** Whether a member belongs to another class of the reference, or to a class of JavaScript or of the browser. */
const belongsElsewhere = ({ kind, inheritedFrom }, exported) => {
  const owner = inheritedFrom?.name.split(".")[0];
  return (
    owner !== undefined &&
    (kind === ReflectionKind.Constructor || owner === "Error" || exported.has(owner))
  );
};

const kinds = {
  [ReflectionKind.Function]: "function",
  [ReflectionKind.Class]: "class",
  [ReflectionKind.Interface]: "type",
  [ReflectionKind.TypeAlias]: "type",
  [ReflectionKind.Variable]: "variable",
  [ReflectionKind.Method]: "method",
  [ReflectionKind.Constructor]: "constructor",
  [ReflectionKind.Property]: "property",
  [ReflectionKind.Accessor]: "property",
};

const markdown = (parts = []) =>
  parts
    .map(({ text }) => text)
    .join("")
    .trim();

/** The text of a declaration. For classes and interfaces only the part before the members. */
function codeOf(declarations, kind, name) {
  const texts = declarations.map((node) => {
    const text = node.getText().replace(/^export (declare )?|^declare /, "");
    if (kind === "variable") return `const ${text}`;
    if (!node.members || kind === "property") return text.replace(/;$/, "");
    return text.slice(0, text.indexOf("{")).trim();
  });
  // If an interface has several declarations of a member, they are overloads.
  const code = [...new Set(texts)].join("\n");
  return kind === "method" ? code.replace(/^(readonly|static|public) /gm, "") : code || name;
}

function commentOf(reflection) {
  const signatures = reflection.signatures ?? [reflection.getSignature, reflection.setSignature];
  const all = [reflection.comment, ...signatures.map((one) => one?.comment)].filter(Boolean);
  const tags = all.flatMap(({ blockTags }) => blockTags);
  const texts = (name) =>
    tags.filter(({ tag }) => tag === name).map(({ content }) => markdown(content));
  const described = new Map();
  for (const { parameters = [] } of signatures.filter(Boolean))
    for (const { name, comment } of parameters)
      if (comment?.summary.length) described.set(name, markdown(comment.summary));
  return {
    summary: all.map(({ summary }) => markdown(summary)).find((text) => text !== "") ?? "",
    parameters: [...described].map(([name, text]) => ({ name, text })),
    returns: texts("@returns")[0] ?? "",
    throws: texts("@throws"),
    examples: texts("@example").map((text) => text.replace(/^```ts\n|\n```$/g, "")),
  };
}

/** @returns {Promise<{ symbols: ApiSymbol[], warnings: string[] }>} */
export async function readApi() {
  const all = entries();
  const app = await Application.bootstrap({
    entryPoints: all.map(({ types }) => types),
    tsconfig: rootOf("web/docs/tsconfig.json"),
    // The members that an element inherits from the browser's own class.
    excludeExternals: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeProtected: true,
    disableSources: true,
    skipErrorChecking: true,
    sort: ["source-order"],
    validation: { invalidLink: true, notExported: false, notDocumented: false },
    logLevel: "None",
  });
  const listed = new Map();
  /** The declarations of each reflection. TypeDoc forgets them after the conversion. */
  const declarations = new Map();
  const remember = (context, reflection) => {
    const checker = context.programs[0].getTypeChecker();
    const symbol = context.getSymbolFromReflection(reflection);
    if (!symbol?.declarations) return;
    declarations.set(reflection, symbol.declarations);
    // If the list of members is not exported, the members are the type.
    if (
      reflection.kind === ReflectionKind.TypeAlias &&
      /typeof/.test(symbol.declarations[0].getText())
    ) {
      const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;
      const type = checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), undefined, flags);
      listed.set(reflection, `type ${symbol.name} = ${type}`);
    }
  };
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => {
    for (const reflection of Object.values(context.project.reflections))
      remember(context, reflection);
  });
  const project = await app.convert();
  if (!project) throw new Error("TypeDoc could not read the declarations of the package");
  const warnings = [];
  app.logger.warn = (text) => warnings.push(text);
  app.validate(project);

  function symbolOf(reflection, entry, prefix) {
    const kind = kinds[reflection.kind];
    const id = `${prefix}${reflection.name}`;
    const own = (reflection.children ?? []).filter(
      (child) => !belongsElsewhere(child, exported) && !usual.test(child.name),
    );
    return {
      id,
      entry,
      kind,
      name: kind === "constructor" ? "constructor" : id.replace(/^[^.]*\./, ""),
      code:
        listed.get(reflection) ?? codeOf(declarations.get(reflection) ?? [], kind, reflection.name),
      ...commentOf(reflection),
      members: own.map((child) => symbolOf(child, entry, `${id}.`)),
    };
  }
  const symbolsIn = (container, entry, prefix) =>
    (container.children ?? [])
      // A repeated export is described with the first entry.
      .filter((child) => !child.kindOf(ReflectionKind.Reference))
      .flatMap((child) =>
        child.kindOf(ReflectionKind.Namespace)
          ? symbolsIn(child, entry, `${prefix}${child.name}.`)
          : symbolOf(child, entry, prefix),
      );
  const modules = project.children.some(({ kind }) => kind === ReflectionKind.Module)
    ? project.children
    : [project];
  const namesIn = (container) =>
    (container.children ?? []).flatMap((child) =>
      child.kindOf(ReflectionKind.Namespace) ? namesIn(child) : child.name,
    );
  const exported = new Set(modules.flatMap(namesIn));
  const symbols = all.flatMap(({ name, id, types }, index) => {
    const module = modules.find((one) => types.endsWith(`/${one.name}.d.ts`));
    return symbolsIn(module ?? modules[index], name, `${id}.`);
  });
  return { symbols, warnings };
}
