import type { PageContext } from '../page-context.ts';
import { Button } from './button.tsx';
import { Island } from './island.tsx';

export interface ResendProps {
  /** Seconds until it is offered; 0: now. */
  waitSeconds: number;
  label: string;
  /** The text beside it meanwhile, with `%` for the seconds. */
  waitText: string;
}

interface ResendFormProps extends ResendProps {
  ctx: PageContext;
  action: string;
  /** Asks whether none has arrived. */
  question: string;
  /** The code was mailed: it may be in the spam folder. */
  byEmail?: boolean;
}

export function ResendView({ waitSeconds, label, waitText, live }: ResendProps & { live?: boolean }) {
  return (
    <>
      {!(live && waitSeconds > 0) && (
        <Button kind="link" size="small" name="act" value="resend">
          {label}
        </Button>
      )}
      {waitSeconds > 0 && <span className="small muted">{waitText.replace('%', String(waitSeconds))}</span>}
    </>
  );
}

/**
 * The form that requests another code. With scripts, the seconds count down in the place of the button; the server
 * works without.
 */
export function Resend({ ctx, action, question, byEmail = false, ...props }: ResendFormProps) {
  return (
    <>
      <form className="resend" method="post" action={action}>
        <span className="small muted">{question}</span>{' '}
        <Island ctx={ctx} name="resend" load="idle" view={ResendView} props={props} />
      </form>
      {byEmail && <p className="small muted">{ctx.t('codes.spam')}</p>}
    </>
  );
}
