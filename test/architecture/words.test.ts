import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseSync } from 'rolldown/utils';

const root = resolve(import.meta.dirname, '..', '..');

interface Text {
  place: string;
  text: string;
}

/** Words that this product once had a meaning of its own for, and pronouns that hide the actor of a sentence. */
const privateWords =
  /\b(?:whoever|nobody|somebody|anybody|houses?|door plates?|errands?|rooms?|ways? on)\b|(?<![-.\w])floors?\b/gi;
/** A sentence begins with its actor: the user, the caller, the client app, the operator. */
const hiddenActors = /(?:^|[.!?] )(?:Who|Whoever|What) [^.!?]*/g;

const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** Without code, quotations and addresses, which keep the words of others. */
const withoutQuotes = (text: string) =>
  text.replaceAll(/`[^`\n]*`|"[^"\n]*"|\{@link [^}]*\}|https?:\S+|\b[\w/-]+\.tsx?\b/g, '');

/** The paragraphs of a comment: its lines without stars, joined. */
function toParagraphs(comment: string): string[] {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*+ ?/, '').trim());
  return lines
    .map((line) => (/^(?:@|- |$)/.test(line) ? `\n${line.replace(/^(?:- |@\w+ ?(?:[\w.]+ )?)/, '')}` : line))
    .join(' ')
    .split('\n')
    .map((text) => text.trim());
}

/** Consecutive `//` comments are one text. */
function readScriptComments(file: string): string[] {
  const source = read(file);
  const texts: string[] = [];
  let end = -1;
  for (const comment of parseSync(file, source).comments) {
    const isContinued = comment.type === 'Line' && end >= 0 && /^\s*$/.test(source.slice(end, comment.start));
    if (isContinued) texts.push(`${texts.pop()} ${comment.value.trim()}`);
    else texts.push(comment.value);
    end = comment.type === 'Line' ? comment.end : -1;
  }
  return texts;
}

const readStyleComments = (file: string) =>
  [...read(file).matchAll(/\/\*([\s\S]*?)\*\//g)].map(([, text = '']) => text);

const folders = '{client,config,sandbox,scripts,server,test/support,views}';
const comments: Text[] = [
  ...globSync(`${folders}/**/*.{ts,tsx,mjs}`, { cwd: root }).flatMap((file) =>
    readScriptComments(file).map((text) => ({ place: file, text })),
  ),
  ...globSync(`${folders}/**/*.css`, { cwd: root }).flatMap((file) =>
    readStyleComments(file).map((text) => ({ place: file, text })),
  ),
].flatMap(({ place, text }) => toParagraphs(text).map((paragraph) => ({ place, text: withoutQuotes(paragraph) })));

/** The product's specification keeps its own words. Headings of guides are topics or questions, not sentences. */
const pages: Text[] = globSync(['README.md', 'docs/**/*.md', 'examples/*/README.md'], { cwd: root })
  .filter((page) => page !== 'docs/specification.md')
  .flatMap((page) =>
    read(page)
      .replaceAll(/^```[\s\S]*?^```/gm, '')
      .replaceAll(/^#+ .*$/gm, '')
      .split(/\n(?=\n|[-*|]|\s*[-*] |\d+\. )| \| /)
      .map((text) =>
        text
          .replaceAll(/\s+/g, ' ')
          .replace(/^[\s*|-]*(?:\d+\. )?/, '')
          .trim(),
      )
      .map((text) => ({ place: page, text: withoutQuotes(text) })),
  );

const find = (texts: readonly Text[], pattern: RegExp) =>
  texts.flatMap(({ place, text }) => [...text.matchAll(pattern)].map(([found]) => `${place}: ${found}`));

describe('words of comments and pages', () => {
  it('No comment has a word with a private meaning', () => {
    expect(comments.length).toBeGreaterThan(5_000);
    expect(find(comments, privateWords)).toEqual([]);
  });

  it('No sentence of a comment begins with Who, Whoever or What', () => {
    expect(find(comments, hiddenActors)).toEqual([]);
  });

  it('No page of the documents has a word with a private meaning', () => {
    expect(pages.length).toBeGreaterThan(1_000);
    expect(find(pages, privateWords)).toEqual([]);
  });

  it('No sentence of a page begins with Who, Whoever or What', () => {
    expect(find(pages, hiddenActors)).toEqual([]);
  });

  it('The check finds each kind of word and sentence, but no code', () => {
    const toTexts = (text: string) =>
      toParagraphs(text).map((paragraph) => ({ place: 'a.ts', text: withoutQuotes(paragraph) }));
    expect(find(toTexts('The room tells whoever asks.'), privateWords)).toHaveLength(2);
    expect(find(toTexts('* Signs in. Who is\n * not known goes away.'), hiddenActors)).toHaveLength(1);
    expect(find(toTexts('Reads `errand` from `server/sign-up/create-sign-up-module.ts`.'), privateWords)).toEqual([]);
  });
});
