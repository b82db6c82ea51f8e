import { z } from 'zod';
import { malformedLines } from './json-field.ts';
import { isMalformed } from './request-body.ts';

/** Both faults have their own text, which helps the caller. */
const checked = (max: number, hasFault: typeof isMalformed) =>
  z
    .string()
    .max(max, `at most ${max} characters`)
    .refine((value) => !hasFault(value, value.length), 'characters that are not accepted');

/** A text of one line, in the body of a JSON call. @param max characters */
export const textField = (max: number) => checked(max, isMalformed);

/** A text of several lines. @param max characters */
export const linesField = (max: number) => checked(max, malformedLines);
