import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');
const folders = ['docs', 'examples'];
const pages = [
  'README.md',
  'CHANGELOG.md',
  ...folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
];

const withoutCode = (text: string) => text.replaceAll(/^```[\s\S]*?^```/gm, '');

/** The anchors of a page: its headings as they are linked to. */
function anchorsOf(page: string): Set<string> {
  const headings = [...withoutCode(readFileSync(join(root, page), 'utf8')).matchAll(/^#+ (.+)$/gm)];
  return new Set(
    headings.map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

/** The links of a page to others of this tree, and to its own parts. */
function linksOf(page: string): { page: string; link: string }[] {
  const text = withoutCode(readFileSync(join(root, page), 'utf8'));
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => !/^[a-z]+:/.test(link)).map((link) => ({ page, link }));
}

function leadsNowhere({ page, link }: { page: string; link: string }): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : relative(root, resolve(root, dirname(page), path));
  if (!existsSync(join(root, target))) return true;
  return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
}

describe('the links of the docs', () => {
  it('Every link of the docs leads to a page and a heading that exist', () => {
    const links = pages.flatMap(linksOf);
    expect(links.length).toBeGreaterThan(150);
    expect(links.filter(leadsNowhere)).toEqual([]);
  });
});
