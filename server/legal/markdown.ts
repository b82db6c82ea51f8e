import MarkdownIt from 'markdown-it';

/** A document as a page shows it. HTML is made from Markdown without HTML in it: it holds no script and no style. */
export interface RenderedMarkdown {
  title: string;
  /** What stands before the first section, as HTML. */
  intro: string;
  /** What each second-level heading begins. */
  sections: { title: string; body: string }[];
}

// Typed HTML is shown as text; links lead to http, https and mailto alone; pictures would be stopped by the policy.
const markdown = new MarkdownIt({ html: false, linkify: false }).disable('image');

/** Facts at the head of a file: lines of `name: value` between two lines of `---`. */
export function frontMatter(text: string): { facts: Record<string, string>; body: string } {
  const match = /^---\r?\n(.*?)\r?\n---\r?\n/s.exec(text);
  if (!match) return { facts: {}, body: text };
  const lines = (match[1] ?? '').split(/\r?\n/).map((line) => /^(\w+):\s*(.*)$/.exec(line));
  const facts = Object.fromEntries(lines.flatMap((line) => (line?.[1] ? [[line[1], (line[2] ?? '').trim()]] : [])));
  return { facts, body: text.slice(match[0].length) };
}

/** @returns without its title when the text does not begin with a first-level heading */
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
