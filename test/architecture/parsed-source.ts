import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseSync } from 'rolldown/utils';

const root = resolve(import.meta.dirname, '..', '..');

export interface Node {
  type: string;
  [property: string]: unknown;
}

export const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

/** All nodes below one, and itself. */
function listNodes(node: Node): Node[] {
  const children = Object.values(node).flat().filter(isNode);
  return [node, ...children.flatMap(listNodes)];
}

/** The syntax tree of one file (ESTree with the nodes of TypeScript). */
export function parseTree(file: string, text: string): Node {
  const { errors, program } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  return { ...program };
}

/** The nodes of the syntax tree of one file. */
export const parseNodes = (file: string, text: string): Node[] => listNodes(parseTree(file, text));

/** The files of a folder with such a name, as paths of the project; a folder that does not exist has none. */
export const listFiles = (folder: string, pattern: RegExp): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => pattern.test(name))
        .map((name) => `${folder}/${name}`)
    : [];

/** The TypeScript files of folders, as paths of the project. */
export const listSources = (...folders: string[]): string[] =>
  folders.flatMap((folder) => listFiles(folder, /\.tsx?$/));

export const readSource = (file: string): string => readFileSync(join(root, file), 'utf8');
