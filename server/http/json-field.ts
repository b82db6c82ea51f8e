import { z } from 'zod';
import { isMalformed } from './form-fields.ts';

/** Fewer than any reader allows: .NET takes 64, Ruby 100, Python and Jackson about 1,000. */
const maxDepth = 16;
const maxKeyCharacters = 100;

/** Text of several lines: what a form's text area can hold. */
export const malformedLines = (value: string, max: number): boolean =>
  isMalformed(value.replace(/\r?\n|\t/g, ' '), max);

/** The fault of a part of a JSON field, by its place in it. */
interface Fault {
  path: (string | number)[];
  message: string;
}

/** The first fault, found without recursion: a body can be nested deeper than the stack. */
function firstFault(root: object, max: number): Fault | undefined {
  const waiting: { value: unknown; path: (string | number)[] }[] = [{ value: root, path: [] }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, path } = next;
    if (typeof value === 'string' && malformedLines(value, max)) {
      return { path, message: 'characters that are not accepted' };
    }
    if (typeof value !== 'object' || value === null) continue;
    if (path.length >= maxDepth) return { path: path.slice(0, 1), message: `nested deeper than ${maxDepth}` };
    for (const key of Object.keys(value)) {
      // JSON.parse makes it a property of its own; whoever copies it sets a prototype.
      if (key === '__proto__') return { path, message: 'the name __proto__ is not accepted' };
      if (isMalformed(key, maxKeyCharacters)) return { path, message: 'a name with characters that are not accepted' };
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
export function jsonField(max: number): z.ZodType<Record<string, unknown>> {
  // A schema of records leaves `__proto__` out in silence, so this one looks at what was sent.
  return z
    .unknown()
    .superRefine((value, context) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return context.addIssue({ code: 'custom', message: 'an object' });
      }
      const fault = firstFault(value, max);
      if (fault) return context.addIssue({ code: 'custom', ...fault });
      if (JSON.stringify(value).length > max) {
        context.addIssue({ code: 'custom', message: `at most ${max} characters of JSON` });
      }
    })
    .meta({ type: 'object', additionalProperties: {} }) as unknown as z.ZodType<Record<string, unknown>>;
}
