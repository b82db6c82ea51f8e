import { z } from 'zod';
import { malformed } from './fields.ts';

/** Fewer than any reader allows: .NET takes 64, Ruby 100, Python and Jackson about 1,000. */
const mostDepth = 16;
const mostKeyCharacters = 100;

/** Text of several lines: what a form's text area can hold. */
export const malformedLines = (value: string, most: number): boolean =>
  malformed(value.replace(/\r?\n|\t/g, ' '), most);

/** The fault of a part of a JSON field, by its place in it. */
interface Fault {
  path: (string | number)[];
  message: string;
}

/** The first fault, found without recursion: a body can be nested deeper than the stack. */
function firstFault(root: object, most: number): Fault | undefined {
  const waiting: { value: unknown; path: (string | number)[] }[] = [{ value: root, path: [] }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && malformedLines(value, most)) {
      return { path, message: 'characters that are not accepted' };
    }
    if (typeof value !== 'object' || value === null) continue;
    if (path.length >= mostDepth) return { path: path.slice(0, 1), message: `nested deeper than ${mostDepth}` };
    for (const key of Object.keys(value)) {
      // JSON.parse makes it a property of its own; whoever copies it sets a prototype.
      if (key === '__proto__') return { path, message: 'the name __proto__ is not accepted' };
      if (malformed(key, mostKeyCharacters)) return { path, message: 'a name with characters that are not accepted' };
      const at = Array.isArray(value) ? Number(key) : key;
      waiting.push({ value: Reflect.get(value, key), path: [...path, at] });
    }
  }
  return undefined;
}

/**
 * An object of the caller's own, kept as it is: of at most `most` characters of JSON, 16 levels, and the characters that all
 * other fields accept.
 */
export function jsonField(most: number): z.ZodType<Record<string, unknown>> {
  // A schema of records leaves `__proto__` out in silence, so this one looks at what was sent.
  return z
    .unknown()
    .superRefine((value, context) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return context.addIssue({ code: 'custom', message: 'an object' });
      }
      const fault = firstFault(value, most);
      if (fault) return context.addIssue({ code: 'custom', ...fault });
      if (JSON.stringify(value).length > most) {
        context.addIssue({ code: 'custom', message: `at most ${most} characters of JSON` });
      }
    })
    .meta({ type: 'object', additionalProperties: {} }) as unknown as z.ZodType<Record<string, unknown>>;
}
