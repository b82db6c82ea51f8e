import { z } from 'zod';

/** The rules for values that several variables share. */

export const text = (what: string) => z.string().trim().min(1, `write ${what}`);
export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `write a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `write a whole number from ${min} to ${max}`);
export const flag = z.enum(['true', 'false'], 'write true or false').transform((value) => value === 'true');
const address = (protocols: string[]) =>
  z.string().refine(
    (value) => {
      const url = URL.parse(value);
      return url !== null && protocols.includes(url.protocol) && url.username === '' && url.hash === '';
    },
    `write an absolute address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`,
  );
export const webAddress = address(['https:', 'http:']);
