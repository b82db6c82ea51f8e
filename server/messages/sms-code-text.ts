import type { Language } from '../../locales/index.ts';
import { translator } from '../http/index.ts';

interface CodeText {
  code: string;
  /** Minutes until it expires. */
  minutes: number;
  brandName: string;
  publicUrl: string;
  lang: Language;
}

/**
 * A text message with a one-time code. Its last line binds the code to this site (the WICG's "Origin-bound one-time
 * codes delivered via SMS"): phones fill it in here, and nowhere else.
 */
export function codeText({ code, minutes, brandName, publicUrl, lang }: CodeText): string {
  const text = translator(lang)('sms.code', { code, brand: brandName, minutes });
  return `${text}\n\n@${new URL(publicUrl).hostname} #${code}`;
}
