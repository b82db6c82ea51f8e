import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { Field } from '../parts/field.tsx';

/**
 * The page behind the dialog of the second factor, only as a picture: nothing in it is reachable, and it contains no
 * input.
 */
export function SignInBackdrop({ ctx: { t } }: { ctx: PageContext }) {
  return (
    <div className="panel">
      <div className="panel-head">
        <p className="backdrop-title">{t('signIn.heading')}</p>
        <p className="muted">{t('signIn.lead')}</p>
      </div>
      <div className="form">
        <Field name="behind-username" label={t('signIn.username')} autoComplete="off" disabled />
        <Field name="behind-password" label={t('signIn.password')} autoComplete="off" disabled />
        <Checkbox name="behind-remember" label={t('signIn.remember')} disabled />
        <Button block disabled>
          {t('signIn.submit')}
        </Button>
      </div>
    </div>
  );
}

/** The same over /re-authenticate. */
export function ReauthenticateBackdrop({ ctx: { t } }: { ctx: PageContext }) {
  return (
    <div className="panel">
      <div className="panel-head">
        <p className="backdrop-title">{t('signIn.reauthenticate.heading')}</p>
        <p className="muted">{t('signIn.reauthenticate.lead')}</p>
      </div>
      <div className="form">
        <Field name="behind-password" label={t('signIn.password')} autoComplete="off" disabled />
        <Button block disabled>
          {t('signIn.reauthenticate.submit')}
        </Button>
      </div>
    </div>
  );
}
