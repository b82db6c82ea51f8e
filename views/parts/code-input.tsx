import type { ReactNode, Ref } from 'react';
import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { codeControl } from './control.ts';
import { FieldFrame, type FieldWords, fieldAttributes } from './field-frame.tsx';
import { Island } from './island.tsx';

export interface CodeInputProps extends Omit<FieldWords, 'aside'> {
  name: string;
  /** Number of digits: the stylesheet draws six cells (specification, section 9). */
  length: 6;
  /** The error for fewer digits. */
  incomplete: string;
  value?: string;
  disabled?: boolean;
  autoFocus?: boolean;
  /** The last digit sends the form. */
  autoSubmit?: boolean;
}

type CodeInputState = { input?: Ref<HTMLInputElement>; describedBy?: string | undefined };

/** The id of the text which says beforehand that the last digit sends the form (WCAG 2.2, 3.2.2). */
export const autoSubmitId = (name: string) => `field-${name}-auto-submit`;

/**
 * One field for a one-time code: phones offer the code from the message, screen readers read one field, and a paste may
 * have spaces. The cells are drawn behind it.
 */
export function CodeInputView(props: CodeInputProps & CodeInputState) {
  const { name, label, error, hint, value, disabled, autoFocus, input, describedBy } = props;
  return (
    <FieldFrame name={name} label={label} error={error} hint={hint}>
      <div className="framed code-frame">
        <input
          {...fieldAttributes(name, { error, hint, describedBy })}
          className="code"
          {...codeControl}
          defaultValue={value}
          disabled={disabled}
          // biome-ignore lint/a11y/noAutofocus: the field is what the page is for
          autoFocus={autoFocus}
          ref={input}
        />
      </div>
    </FieldFrame>
  );
}

/** The code that was sent last: an earlier one is refused. */
export interface NewestCode {
  /** `perhaps-email`: the page must not reveal whether a code was sent. */
  by: 'email' | 'sms' | 'perhaps-email';
  atMs: number;
}

/** The sentences on the newest code: the open field's, and that of a field whose code was refused. */
const sentTexts = {
  email: { sent: 'codes.sentAt', refused: 'codes.newest' },
  sms: { sent: 'codes.sentAtSms', refused: 'codes.newestSms' },
  'perhaps-email': { sent: 'codes.requestedAt', refused: 'codes.newestRequested' },
} as const;

/** When the code was sent; after a refusal, that it is the one to type. The script shows the time of the browser's zone. */
function SentAt({ ctx: { t, lang }, newest, isRefused }: { ctx: PageContext; newest: NewestCode; isRefused: boolean }) {
  const { sent, refused } = sentTexts[newest.by];
  const [before, after] = t(isRefused ? refused : sent, { time: '\n' }).split('\n');
  return (
    <p className="field-hint sentence">
      {before}
      <time dateTime={new Date(newest.atMs).toISOString()}>{formatDate(lang, newest.atMs, 'time')}</time>
      {after}
      {newest.by !== 'sms' && !isRefused && ` ${t('codes.spam')}`}
    </p>
  );
}

/**
 * With scripts, only digits stay and only a complete code is sent; the server enforces the same without them.
 * @param isAlone the code is all that its form asks for: the last digit sends it
 * @param resend the `Resend` of a page on which another code can be requested
 */
export function CodeInput(
  props: {
    ctx: PageContext;
    isAlone?: boolean;
    newest?: NewestCode | undefined;
    resend?: ReactNode;
  } & Omit<CodeInputProps, 'autoSubmit'>,
) {
  const { ctx, isAlone = false, newest, resend, ...field } = props;
  return (
    <div className="code-field">
      {/* Not at the first touch: phones fill the code in without one. */}
      <Island
        ctx={ctx}
        name="code-input"
        load="idle"
        view={CodeInputView}
        props={{ ...field, ...(isAlone && { autoSubmit: true }) }}
      />
      {isAlone && (
        <p className="field-hint code-hint" id={autoSubmitId(props.name)}>
          {ctx.t('common.codeAutoSubmit')}
        </p>
      )}
      {newest !== undefined && <SentAt ctx={ctx} newest={newest} isRefused={field.error !== undefined} />}
      {resend}
    </div>
  );
}
