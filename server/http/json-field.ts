import { z } from 'zod';
import { parseUnknownJson } from '../shared/index.ts';
import { isMalformed } from './request-body.ts';

/** Lower than the limit of every common parser: .NET has 64, Ruby 100, Python and Jackson about 1,000. */
const maxDepth = 16;
const maxKeyCharacters = 100;

/** Text of several lines, as a form's text area can hold it. */
export const malformedLines = (value: string, max: number): boolean =>
  isMalformed(value.replace(/\r?\n|\t/g, ' '), max);

/** The fault of a part of a JSON field, with its path. */
interface Fault {
  path: (string | number)[];
  message: string;
}

/** Finds the first fault without recursion: a body can be nested deeper than the stack. */
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
      // JSON.parse makes it an own property; code that copies it would set a prototype.
      if (key === '__proto__') return { path, message: 'the name __proto__ is not accepted' };
      if (isMalformed(key, maxKeyCharacters)) return { path, message: 'a name with characters that are not accepted' };
      const at = Array.isArray(value) ? Number(key) : key;
      waiting.push({ value: Reflect.get(value, key), path: [...path, at] });
    }
  }
  return undefined;
}

/** Older callers send the object as JSON text, and an empty one as an empty list. */
function fromJsonText(value: unknown): unknown {
  const parsed = typeof value === 'string' ? parseJson(value) : value;
  return Array.isArray(parsed) && parsed.length === 0 ? {} : parsed;
}

function parseJson(text: string): unknown {
  try {
    return parseUnknownJson(text);
  } catch {
    return text;
  }
}

/**
 * A free-form object of the caller, or its JSON text, stored unchanged: at most `max` characters of JSON, 16 levels, and only the
 * characters that all other fields accept.
 */
export function jsonField(max: number): z.ZodType<Record<string, unknown>> {
  // A record schema of zod drops `__proto__` silently, so the check reads the original input before it.
  return z
    .unknown()
    .transform(fromJsonText)
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
    .pipe(z.record(z.string(), z.unknown()))
    .meta({ type: 'object', additionalProperties: {} });
}
