import type { InputHTMLAttributes } from 'react';

/** The attributes of an input that the schema of its form gives. */
export type ControlAttributes = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'autoCapitalize' | 'autoComplete' | 'inputMode' | 'maxLength' | 'required' | 'spellCheck' | 'type'
>;

export interface Control extends ControlAttributes {
  name: string;
}
