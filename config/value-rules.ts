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

const callNumber = /^([A-Za-z]{1,100})=([1-9]\d{0,5})$/;

/** Whole numbers by name, as in `signUp=60,listClients=600`. */
export const callNumbers = z.string().transform((value, context) => {
  const pairs = value.split(',').map((part) => callNumber.exec(part.trim()));
  const numbers = new Map(pairs.map((pair) => [pair?.[1] ?? '', Number(pair?.[2])]));
  if (pairs.every(Boolean) && numbers.size === pairs.length) return numbers;
  context.addIssue('write call=number, separated by commas, each call once, the numbers from 1 to 999999');
  return z.NEVER;
});
