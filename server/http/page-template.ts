import { randomBytes } from 'node:crypto';

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
