import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createFoyer } from '../../server/cli/run.ts';

const root = join(import.meta.dirname, '..', '..');
const listFiles = (folder: string, pattern: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => pattern.test(name) && !name.includes('node_modules'))
    .map((name) => `${folder}/${name}`);
/** docs/commands.md is written from the commands themselves. */
const files = [
  'README.md',
  ...listFiles('docs', /\.md$/).filter((file) => file !== 'docs/commands.md'),
  ...listFiles('config', /\.(md|env|ya?ml|service|example)$|Dockerfile/),
  ...listFiles('examples', /\.md$/),
];

/** The lines of code in a page, and what it has between backticks; a whole file that is no page. */
function listCode(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/\\\n\s*/g, ' ');
  if (!file.endsWith('.md')) return text.split('\n');
  const blocks = [...text.matchAll(/```\w*\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.split('\n'));
  const spans = [...text.replaceAll(/```[\s\S]*?```/g, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) => span);
  return [...blocks, ...spans.map((span) => span.replaceAll(/\s+/g, ' '))];
}

/** None of the commands runs. */
const program: Command = createFoyer({ env: {}, stdin: process.stdin, stdout: process.stdout, stderr: process.stderr });

const known = (name: string) => program.commands.some((command) => command.name() === name);

/** @returns what a written command names and Foyer does not have */
function findUnknown(words: readonly string[]): string | undefined {
  let command = program;
  let depth = 0;
  for (const word of words) {
    const next = command.commands.find((candidate) => candidate.name() === word);
    if (!next) break;
    command = next;
    depth += 1;
  }
  const [following = ''] = words.slice(depth);
  if (command.commands.length > 0 && /^[a-z][a-z-]+$/.test(following)) return words.slice(0, depth + 1).join(' ');
  const options = new Set([...command.options, ...program.options].map(({ long }) => long).concat('--help'));
  const unknown = words
    .flatMap((word) => /^(--[a-z][a-z-]*)/.exec(word)?.[1] ?? [])
    .find((option) => !options.has(option));
  return unknown && `${words.slice(0, depth).join(' ')} ${unknown}`;
}

describe('the commands that the documents name', () => {
  const lines = files.flatMap((file) => listCode(file).map((line) => ({ file, line })));

  it('Every foyer command in the documents exists, with its options', () => {
    const written = lines.flatMap(({ file, line }) =>
      [...line.matchAll(/(?:^|[\s;&|(`])(?:npm run )?foyer (?:-- )?([a-z][a-z-]+[^|;&#>`)]*)/g)].map(
        ([, words = '']) => ({
          file,
          words: words.trim().split(/[\s,]+/),
        }),
      ),
    );
    const commands = written.filter(({ words: [first = ''] }) => known(first));
    expect(commands.length).toBeGreaterThan(80);
    const faults = commands.flatMap(({ file, words }) => {
      const unknown = findUnknown(words);
      return unknown === undefined ? [] : [`${file}: foyer ${unknown}`];
    });
    expect(faults).toEqual([]);
  });

  it('The check finds a command and an option that do not exist', () => {
    expect(findUnknown(['client', 'create', 'shop'])).toBe('client create');
    expect(findUnknown(['user', 'add', '--emial', 'a@b'])).toBe('user add --emial');
    expect(findUnknown(['user', 'add', '--email', 'a@b'])).toBeUndefined();
  });

  it('Every npm script in the documents is one of package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const written = lines.flatMap(({ file, line }) =>
      [...line.matchAll(/\bnpm run ([a-z][\w:-]*)/g)].map(([, name = '']) => ({ file, name })),
    );
    expect(written.length).toBeGreaterThan(20);
    expect(written.filter(({ name }) => scripts[name] === undefined)).toEqual([]);
  });

  it('Every file of the repository that a document names between backticks exists', () => {
    const paths = lines.flatMap(({ file, line }) => {
      const path =
        /^((?:config|docs|server|scripts|test|views|client|locales|examples|sandbox)\/[\w./-]+\.(?:ts|tsx|mjs|css|json|md|env|ya?ml))$/.exec(
          line,
        )?.[1];
      return path === undefined ? [] : [{ file, path }];
    });
    expect(paths.length).toBeGreaterThan(20);
    const missing = paths.filter(({ path }) => {
      try {
        readFileSync(join(root, path));
        return false;
      } catch {
        return true;
      }
    });
    expect(missing).toEqual([]);
  });
});
