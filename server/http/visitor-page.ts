import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { HostCookies } from './cookies.ts';
import { languageCookie } from './language-form.ts';

/** Tests the header itself: a cookie that a parser drops is a cookie, too. */
const isLanguageAlone = (header: string | undefined, name: string): boolean =>
  header === undefined || (header.startsWith(`${name}=`) && !header.includes(';'));

/** Tests whether a request carries nothing that identifies a visitor: no cookie but the language's, no credentials. */
export const isUnidentified = ({ headers }: IncomingMessage, cookies: HostCookies): boolean =>
  headers.authorization === undefined && isLanguageAlone(headers.cookie, cookies.name(languageCookie));

/** A random text that stands for a value in a page until the page is sent. */
export const createPlaceholder = (): string => randomBytes(16).toString('hex');

/** A rendered page with placeholders. @param values by placeholder; text that HTML does not escape */
type PageTemplate = (values: ReadonlyMap<string, string>) => string;

/** @param html the page with its placeholders, each any number of times */
export function createTemplate(html: string, placeholders: readonly string[]): PageTemplate {
  // The group keeps the placeholders among the pieces: they have the odd numbers.
  const pieces = html.split(new RegExp(`(${placeholders.join('|')})`));
  return (values) => {
    let filled = '';
    for (const [at, piece] of pieces.entries()) filled += at % 2 === 0 ? piece : (values.get(piece) ?? '');
    return filled;
  };
}
