import { isNode, listSources, type Node, parseNodes, readSource } from './parsed-source.ts';

/**
 * Names are nouns and verbs of the field: of OAuth, OpenID Connect, SAML, Stripe and Express. A pronoun, a participle or an
 * adverb alone says nothing about a value.
 */
const words = new Set(
  [
    'said told shown kept made given begun whom whose here wanted asked again anew standing going away mine theirs thing',
    'things news wish behind upward stranger strangers errand door doors entrance holding holdings leaving leavings stash',
    'room rooms house floor',
  ].flatMap((line) => line.split(' ')),
);
const beginnings = /^(?:most|least|greet|tell|wayOn|wayOut|wayBack|wayTo)(?![a-z])/;
const functionEnding = /[a-z\d]Of$/;
const typeEnding = /(?:Shown|Said|Kept|Told)$/;

/** Names that are stored or sent: each with the reason. */
const exceptions = new Map([
  ['server/http/openapi-schemas.ts anyOf', 'a keyword of JSON Schema'],
  ['server/http/schema-doc.ts anyOf', 'a keyword of JSON Schema'],
  ['views/api-reference/document.ts anyOf', 'a keyword of JSON Schema'],
  ['views/api-reference/named-schemas.ts anyOf', 'a keyword of JSON Schema'],
  ['views/api-reference/schema-fields.tsx anyOf', 'a keyword of JSON Schema'],
  ['server/http/post-redirect-get.ts shown', 'a property of the sealed cookie of a form'],
  ['server/store/generated-tables-p-z.ts errand', 'a column of the table sign_ups'],
  ['server/users/partner-deal-store.ts kept', 'a key of the JSON that `foyer partner-deals import` prints'],
]);

/** The names that a pattern binds: `{ a, b: [c], ...d }` binds a, c and d. */
function listBoundNames(pattern: unknown): string[] {
  if (!isNode(pattern)) return [];
  switch (pattern.type) {
    case 'Identifier':
      return typeof pattern.name === 'string' ? [pattern.name] : [];
    case 'ObjectPattern':
      return [pattern.properties].flat().flatMap(listBoundNames);
    case 'ArrayPattern':
      return [pattern.elements].flat().flatMap(listBoundNames);
    case 'Property':
      return listBoundNames(pattern.value);
    case 'AssignmentPattern':
      return listBoundNames(pattern.left);
    case 'RestElement':
      return listBoundNames(pattern.argument);
    case 'TSParameterProperty':
      return listBoundNames(pattern.parameter);
    default:
      return [];
  }
}

/** The name of a property or a method, unless it is computed. */
function readKey({ computed, key }: Node): string[] {
  if (computed === true || !isNode(key)) return [];
  const name = key.type === 'Literal' ? key.value : key.name;
  return typeof name === 'string' ? [name] : [];
}

const readParameters = ({ id, params }: Node) => [id, params].flat().flatMap(listBoundNames);
const readName = ({ id }: Node) => listBoundNames(id);
const readLocal = ({ local }: Node) => listBoundNames(local);

const readValues: Record<string, (node: Node) => string[]> = {
  VariableDeclarator: readName,
  CatchClause: ({ param }) => listBoundNames(param),
  FunctionDeclaration: readParameters,
  FunctionExpression: readParameters,
  ArrowFunctionExpression: readParameters,
  TSFunctionType: readParameters,
  TSMethodSignature: (node) => [...readKey(node), ...readParameters(node)],
  TSPropertySignature: readKey,
  PropertyDefinition: readKey,
  MethodDefinition: readKey,
  ImportSpecifier: readLocal,
  ImportDefaultSpecifier: readLocal,
  ImportNamespaceSpecifier: readLocal,
};

const readTypes: Record<string, (node: Node) => string[]> = {
  ClassDeclaration: readName,
  ClassExpression: readName,
  TSInterfaceDeclaration: readName,
  TSTypeAliasDeclaration: readName,
  TSEnumDeclaration: readName,
  TSTypeParameter: ({ name }) => listBoundNames(name),
};

const isBanned = (name: string) => words.has(name) || beginnings.test(name) || functionEnding.test(name);

function listBannedNames(file: string, text: string): string[] {
  const nodes = parseNodes(file, text);
  const values = nodes.flatMap((node) => readValues[node.type]?.(node) ?? []);
  const types = nodes.flatMap((node) => readTypes[node.type]?.(node) ?? []);
  const banned = [...values.filter(isBanned), ...types.filter((name) => isBanned(name) || typeEnding.test(name))];
  return [...new Set(banned.map((name) => `${file} ${name}`))];
}

const found = listSources('server', 'views', 'client', 'config', 'sandbox').flatMap((file) =>
  listBannedNames(file, readSource(file)),
);

describe('Names in the product', () => {
  it('No declared name is a pronoun, a participle or an adverb alone, and none ends in `Of`', () => {
    expect(found.filter((entry) => !exceptions.has(entry))).toEqual([]);
  });

  it('Every exception from the rules for names is still declared', () => {
    expect([...exceptions.keys()].filter((entry) => !found.includes(entry))).toEqual([]);
  });

  it('The check of names sees variables, parameters, members, types and imports', () => {
    const text = `
      import { a as kept } from 'a';
      interface FormShown { told: 1; tell(whom: string): void }
      class C { #x = 1; standing = 1; constructor(private readonly here: 1) {} mostOf() {} }
      type F<Said> = (asked: Said) => void;
      const keyOf = ({ b: made, ...given }, [wish] = []) => { try {} catch (news) {} };
      function greetUsers() {}
    `;
    const names = listBannedNames('a.ts', text).map((entry) => entry.slice('a.ts '.length));
    expect(names.toSorted()).toEqual(
      [
        ...['FormShown', 'Said', 'asked', 'given', 'greetUsers', 'here', 'keyOf', 'kept', 'made', 'mostOf', 'news'],
        ...['standing', 'tell', 'told', 'whom', 'wish'],
      ].toSorted(),
    );
    expect(listBannedNames('a.ts', 'const fine = { said: keptMs, indexOf: 1, mostly };')).toEqual([]);
  });
});
