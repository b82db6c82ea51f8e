import type { InputHTMLAttributes } from 'react';

/** The attributes of an input that the schema of its form gives. */
export type ControlAttributes = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  | 'autoCapitalize'
  | 'autoComplete'
  | 'enterKeyHint'
  | 'inputMode'
  | 'maxLength'
  | 'pattern'
  | 'required'
  | 'spellCheck'
  | 'type'
>;

/**
 * The attributes of the control of a one-time code: phones offer the code from the message. The pattern is looser than
 * the code, because a paste may have spaces.
 */
export const codeControl = {
  type: 'text',
  inputMode: 'numeric',
  autoComplete: 'one-time-code',
  autoCapitalize: 'none',
  spellCheck: false,
  pattern: '[0-9 \\-]*',
  enterKeyHint: 'done',
} as const satisfies ControlAttributes;

export interface Control extends ControlAttributes {
  name: string;
}
