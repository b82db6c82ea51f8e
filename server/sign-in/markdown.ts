import MarkdownIt from 'markdown-it';

/** A rendered document. Markdown without embedded HTML produces it, so it contains no script and no style. */
export interface RenderedMarkdown {
  title: string;
  /** HTML before the first section. */
  intro: string;
  /** One section for each second-level heading. */
  sections: { title: string; body: string }[];
}

// Embedded HTML is shown as text; links may only use http, https and mailto; the policy would block pictures.
const markdown = new MarkdownIt({ html: false, linkify: false }).disable('image');

/** Reads the front matter of a file: lines of `name: value` between two lines of `---`. */
export function frontMatter(text: string): { facts: Record<string, string>; body: string } {
  const match = /^---\r?\n(.*?)\r?\n---\r?\n/s.exec(text);
  if (!match) return { facts: {}, body: text };
  const lines = (match[1] ?? '').split(/\r?\n/).map((line) => /^(\w+):\s*(.*)$/.exec(line));
  const facts = Object.fromEntries(lines.flatMap((line) => (line?.[1] ? [[line[1], (line[2] ?? '').trim()]] : [])));
  return { facts, body: text.slice(match[0].length) };
}

/** @returns no title if the text does not start with a first-level heading */
export function renderMarkdown(text: string): Omit<RenderedMarkdown, 'title'> & { title: string | undefined } {
  const tokens = markdown.parse(text, {});
  const render = (part: typeof tokens) => markdown.renderer.render(part, markdown.options, {});
  let title: string | undefined;
  let start = 0;
  if (tokens[0]?.type === 'heading_open' && tokens[0].tag === 'h1') {
    title = tokens[1]?.content;
    start = 3;
  }
  const heads = tokens.flatMap((token, index) =>
    index >= start && token.type === 'heading_open' && token.tag === 'h2' && token.level === 0 ? [index] : [],
  );
  return {
    title,
    intro: render(tokens.slice(start, heads[0])),
    sections: heads.map((head, index) => ({
      title: tokens[head + 1]?.content ?? '',
      body: render(tokens.slice(head + 3, heads[index + 1])),
    })),
  };
}
