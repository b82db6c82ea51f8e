import { isNode, type Node, parseTree } from './parsed-source.ts';

/** The size of one function, and where it stands. */
export interface FunctionSize {
  file: string;
  name: string;
  /** Positional parameters; the parameter `this` of a type is none. */
  parameters: number;
  lines: number;
  /** Cyclomatic: one, and one more for each decision of the function itself. */
  complexity: number;
}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
const decisions = new Set([
  'IfStatement',
  'ConditionalExpression',
  'LogicalExpression',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
  'CatchClause',
]);

const isDecision = ({ type, test }: Node) => decisions.has(type) || (type === 'SwitchCase' && isNode(test));

const readName = (node: unknown): string | undefined =>
  isNode(node) && typeof node.name === 'string' ? node.name : undefined;

/** The name that a declaration or a property gives to its value. */
const nameFor = ({ id, key }: Node): string | undefined => readName(id) ?? readName(key);

const countLines = (text: string, { start, end }: Node): number =>
  typeof start === 'number' && typeof end === 'number' ? text.slice(start, end).split('\n').length : 0;

/** The functions of one file, nested ones as well, in the order of the text. */
export function listFunctionSizes(file: string, text: string): FunctionSize[] {
  const sizes: FunctionSize[] = [];
  const visit = (node: Node, owner: FunctionSize | undefined, given: string | undefined): void => {
    let inside = owner;
    if (functionTypes.has(node.type) && isNode(node.body)) {
      const parameters = [node.params].flat().filter((parameter) => readName(parameter) !== 'this').length;
      const name = readName(node.id) ?? given ?? '(anonymous)';
      inside = { file, name, parameters, lines: countLines(text, node), complexity: 1 };
      sizes.push(inside);
    } else if (inside && isDecision(node)) inside.complexity += 1;
    const isCall = node.type === 'CallExpression';
    const name = nameFor(node) ?? (isCall ? given : undefined);
    for (const child of Object.values(node).flat().filter(isNode)) visit(child, inside, name);
  };
  visit(parseTree(file, text), undefined, undefined);
  return sizes;
}
