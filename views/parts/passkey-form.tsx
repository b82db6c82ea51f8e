import type { PageContext } from '../page-context.ts';
import { Button } from './button.tsx';
import { PasskeyMark } from './passkey-mark.tsx';

export interface PasskeyAsk {
  /** The target of the browser's answer as `credential`, with the page's checkbox `remember`. */
  action: string;
  /** The options for the browser (PublicKeyCredentialRequestOptionsJSON). */
  options: object;
  /** On the button. */
  label: string;
}

/**
 * The passkey button, and the browser's autofill in fields with `webauthn`. Shown only if scripts run and support
 * passkeys; the page must load the script `busy`.
 */
export function PasskeyForm({ ctx, action, options, label }: { ctx: PageContext } & PasskeyAsk) {
  return (
    <div className="passkey">
      <form method="post" action={action} data-passkey={JSON.stringify(options)} hidden>
        <input type="hidden" name="credential" />
        <input type="hidden" name="remember" />
        <Button kind="quiet" block>
          <PasskeyMark />
          {label}
        </Button>
        <p className="small muted" role="status">
          <span hidden>{ctx.t('passkeys.signIn.none')}</span>
        </p>
      </form>
    </div>
  );
}
