import type { PageContext } from '../page-context.ts';
import { Button } from './button.tsx';

export interface PasskeyAsk {
  /** Where the browser's answer is posted as `credential`, with `remember` as the page's checkbox of that name says. */
  action: string;
  /** What the browser is asked (PublicKeyCredentialRequestOptionsJSON). */
  options: object;
  /** On the button. */
  label: string;
}

/**
 * The button of passkeys, and what a browser offers in fields that say `webauthn`. There only where scripts run and know of passkeys; the
 * page brings the script `busy` along.
 */
export function PasskeyForm({ ctx, action, options, label }: { ctx: PageContext } & PasskeyAsk) {
  return (
    <div className="passkey">
      <form method="post" action={action} data-passkey={JSON.stringify(options)} hidden>
        <input type="hidden" name="credential" />
        <input type="hidden" name="remember" />
        <Button kind="quiet" block>
          {label}
        </Button>
        <p className="small muted" role="status">
          <span hidden>{ctx.t('passkeys.signIn.none')}</span>
        </p>
      </form>
    </div>
  );
}
