import type { Field } from './mutate.ts';

/** A form of a page, with the fields as a browser would send them. */
export interface Form {
  action: string;
  method: string;
  fields: Field[];
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'" };
const plain = (text: string) => text.replaceAll(/&(#?\w+);/g, (whole, name: string) => entities[name] ?? whole);

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : plain(value);
}

/** The forms of a page. Fields of all buttons are in the list, since a fuzzer presses each. */
export function formsIn(html: string, address: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/g)].map(([, tag = '', content = '']) => ({
    action: new URL(attribute(tag, 'action') ?? address, address).href,
    method: (attribute(tag, 'method') ?? 'get').toUpperCase(),
    fields: [...content.matchAll(/<(?:input|select|textarea|button)\b[^>]*>/g)].flatMap(([control]): Field[] => {
      const name = attribute(control, 'name');
      return name === undefined ? [] : [[name, attribute(control, 'value') ?? sampleOf(name)]];
    }),
  }));
}

/** A value that a user might type into a field of this name. */
function sampleOf(name: string): string {
  if (/email|username/i.test(name)) return 'someone@example.com';
  if (/phone/i.test(name)) return '+4915112345678';
  if (/password/i.test(name)) return 'correct horse 9';
  if (/code/i.test(name)) return '123456';
  return 'Ada';
}

/** Paths of this site that a page links to. */
export function linksIn(html: string, address: string): string[] {
  const links = [...html.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map(([, href = '']) => new URL(plain(href), address));
  return links
    .filter(({ origin }) => origin === new URL(address).origin)
    .map(({ pathname, search }) => pathname + search);
}
