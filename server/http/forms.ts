import type { Request } from 'express';
import { z } from 'zod';
import type { TextKey } from '../../locales/index.ts';
import { type Control, type ControlAttributes, codeControl } from '../../views/parts/control.ts';
import type { T } from './language.ts';
import { isMalformed, malformedSecret, readFormField } from './request-body.ts';

/** One field of a form: how its text becomes a value, and the attributes of its HTML control. */
export interface FormField<Value = unknown> {
  /** The name of the control. */
  name: string;
  /** Reads the submitted text, which is '' if the field is absent. The messages of its issues are keys of the texts. */
  schema: z.ZodType<Value, string>;
  html: ControlAttributes;
  /** A password or code: it never returns to the page. */
  isSecret: boolean;
}

/** The fields of a form, by the names that the code uses. */
export type Form = Readonly<Record<string, FormField>>;
export type FormValues<Fields extends Form> = { [Name in keyof Fields]: z.output<Fields[Name]['schema']> };
export type FormErrors<Fields extends Form> = { [Name in keyof Fields]?: string };

export interface ReadForm<Fields extends Form> {
  /** As it was typed, for the page that shows the form again; without secrets. */
  typed: Record<keyof Fields, string>;
  /** The first fault of each field, in words. */
  errors: FormErrors<Fields>;
  /** The first fault that stands above the form, in words. */
  text: string | undefined;
  /** undefined if a field has a fault. */
  values: FormValues<Fields> | undefined;
}

/** Describes one field. @param options its schema, and the attributes of its control */
export function formField<Value>(
  name: string,
  { schema, isSecret = false, ...html }: ControlAttributes & { schema: z.ZodType<Value, string>; isSecret?: boolean },
): FormField<Value> {
  return { name, schema, html, isSecret };
}

const mailInput = { inputMode: 'email', autoCapitalize: 'none', spellCheck: false } as const;
/** The control of an e-mail address. */
export const emailControl = { ...mailInput, type: 'email', autoComplete: 'email' } as const;
/** The control of a user's address or number. */
export const usernameControl = { ...mailInput, type: 'text', autoComplete: 'username' } as const;

/** Input of a form without its secrets, by the names of the controls. */
export type OpenInput = Readonly<Record<string, string>>;

/** The view of a page whose form had input when another language was chosen. */
export interface WithKeptInput {
  keptInput?: OpenInput;
}

/** The names of the controls of a form whose input may be kept and shown again. */
export const listOpenNames = (form: Form): string[] =>
  Object.values(form).flatMap(({ name, isSecret }) => (isSecret ? [] : name));

/** Kept input, as {@link readForm} gives it. */
export const toTyped = <Fields extends Form>(form: Fields, input: OpenInput): Record<keyof Fields, string> =>
  Object.fromEntries(
    Object.entries(form).map(([id, { name, isSecret, html }]) => {
      const text = isSecret ? '' : (input[name] ?? '');
      return [id, html.type === 'checkbox' ? String(text !== '') : text];
    }),
  ) as Record<keyof Fields, string>;

/** The attributes of each control of a form, for its page. */
export const toControls = <Fields extends Form>(form: Fields): Record<keyof Fields, Control> =>
  Object.fromEntries(Object.entries(form).map(([id, { name, html }]) => [id, { ...html, name }])) as Record<
    keyof Fields,
    Control
  >;

/** Refuses a text with the text of this key. */
function refuseText(ctx: z.RefinementCtx<string>, key: TextKey, params: Record<string, number> = {}): void {
  ctx.addIssue({ code: 'custom', message: key, params });
}

/** A text that must not be empty, with the texts of its faults: that of a malformed one stands above the form. */
interface FilledLimits {
  max: number;
  empty: TextKey;
  malformed: TextKey;
}

const filled =
  (schema: z.ZodString, isFaulty: (text: string, max: number) => boolean) =>
  ({ max, empty, malformed }: FilledLimits) =>
    schema.superRefine((text, ctx) => {
      if (text === '') return refuseText(ctx, empty);
      if (isFaulty(text, max)) ctx.addIssue({ code: 'custom', message: malformed, path: ['form'] });
    });

/** A text without its outer white space that must not be empty. */
export const filledSchema = filled(z.string().trim(), isMalformed);
/** The same for a password, which is used unchanged. */
export const secretSchema = filled(z.string(), malformedSecret);
/**
 * The form of a one-time code. The rule that checks the code says what a whole one is, as its refusals have their own
 * text and status for each caller.
 */
export const codeForm = { code: formField('code', { schema: z.string(), isSecret: true, ...codeControl }) };
/** A checkbox, by its usual value. */
export const tickSchema = z.string().transform((text) => text === '1');

/** The limits of a text that is shown again. */
interface TextLimits {
  max: number;
  /** It may be empty. */
  optional?: boolean;
  /** It may have several lines. */
  lines?: boolean;
}

/** A text without its outer white space: neither too long nor with control characters or direction marks. */
export const textSchema = ({ max, optional = false, lines = false }: TextLimits) =>
  z
    .string()
    .trim()
    .superRefine((text, ctx) => {
      // A browser sends a line break as CR LF, which counts as one character.
      const line = lines ? text.replace(/\r?\n/g, ' ') : text;
      if (text === '') return optional ? undefined : refuseText(ctx, 'settings.errors.empty');
      if (line.length > max) return refuseText(ctx, 'settings.errors.long', { count: max });
      if (isMalformed(line, max)) refuseText(ctx, 'settings.errors.characters');
    });

/** One of these texts. */
export const choiceSchema = (choices: readonly string[]) =>
  z
    .string()
    .trim()
    .refine((text) => choices.includes(text), { error: 'settings.errors.choice' satisfies TextKey });

/** An empty text is stored as null. */
export const orNull = <Value extends string>(schema: z.ZodType<Value, string>) =>
  schema.transform((text) => (text === '' ? null : text));

/** The submitted text of one field. An unticked checkbox is absent. */
function readField(req: Request, { name, html }: FormField): string {
  const text = readFormField(req, name);
  return html.type === 'checkbox' ? String(text !== '') : text;
}

/** Reads a submitted form. @throws {HttpError} badRequest if a field is repeated */
export const readForm = <Fields extends Form>(req: Request, form: Fields): ReadForm<Fields> => {
  const texts = Object.entries(form).map(([id, field]) => [id, readField(req, field)]);
  return readTexts(form, Object.fromEntries(texts) as Record<keyof Fields, string>, req.t);
};

/** Reads the fields of a form from these texts; a JSON call has them too. */
export function readTexts<Fields extends Form>(
  form: Fields,
  texts: Readonly<Record<keyof Fields, string>>,
  t: T,
): ReadForm<Fields> {
  const fields = Object.entries(form).map(([id, { schema, isSecret }]) => {
    const text = texts[id] ?? '';
    return { id, typed: isSecret ? '' : text, parsed: schema.safeParse(text) };
  });
  const errors: Record<string, string> = {};
  let text: string | undefined;
  for (const { id, parsed } of fields) {
    for (const issue of parsed.error?.issues ?? []) {
      const fault = t(issue.message as TextKey, issue.code === 'custom' ? (issue.params ?? {}) : {});
      if (issue.path.length > 0) text ??= fault;
      else errors[id] ??= fault;
    }
  }
  const values = Object.fromEntries(fields.map(({ id, parsed }) => [id, parsed.data]));
  return {
    typed: Object.fromEntries(fields.map(({ id, typed }) => [id, typed])) as Record<keyof Fields, string>,
    errors: errors as FormErrors<Fields>,
    text,
    values: fields.every(({ parsed }) => parsed.success) ? (values as FormValues<Fields>) : undefined,
  };
}
