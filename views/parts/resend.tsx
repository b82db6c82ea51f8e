import type { PageContext } from '../page-context.ts';
import { Button } from './button.tsx';
import { Island } from './island.tsx';

export interface ResendProps {
  /** Of the form that the button sends, which is not the one around it. */
  formId: string;
  /** Seconds until it is offered; 0: now. */
  waitSeconds: number;
  label: string;
  /** The text beside it meanwhile, with `%` for the seconds. */
  waitText: string;
}

export interface ResendTexts extends Omit<ResendProps, 'formId'> {
  /** The address of its form. */
  action: string;
  /** Asks whether none has arrived. */
  question: string;
}

export function ResendView({ formId, waitSeconds, label, waitText, live }: ResendProps & { live?: boolean }) {
  return (
    <>
      {!(live && waitSeconds > 0) && (
        <Button kind="link" size="small" form={formId} name="act" value="resend">
          {label}
        </Button>
      )}
      {waitSeconds > 0 && <span className="small muted">{waitText.replace('%', String(waitSeconds))}</span>}
    </>
  );
}

/** Several dialogs of one page may each have one. */
const toFormId = (action: string) => `resend${action.replace(/[?#].*/, '').replaceAll('/', '-')}`;

/**
 * The line of a code's field that requests another code; {@link ResendForm} is outside the form of that field. With
 * scripts, the seconds count down in the place of the button; the server works without.
 */
export function Resend({ ctx, action, question, ...props }: ResendTexts & { ctx: PageContext }) {
  return (
    <div className="resend small muted">
      <span>{question}</span>{' '}
      <Island ctx={ctx} name="resend" load="idle" view={ResendView} props={{ formId: toFormId(action), ...props }} />
    </div>
  );
}

/** Without the code, which need not be complete. */
export function ResendForm({ action }: Pick<ResendTexts, 'action'>) {
  return <form id={toFormId(action)} method="post" action={action} hidden />;
}
