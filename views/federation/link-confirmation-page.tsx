import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { type PersonThere, ProviderQuestion, personLine } from './provider-question.tsx';

interface LinkConfirmationPageProps {
  ctx: PageContext;
  action: string;
  /** A new link, or an existing one whose subject may have been reassigned. */
  about?: 'linkConfirmation' | 'keepLink';
  /** The name of the provider. */
  provider: string;
  /** Of the signed-in user. */
  email: string;
  there: PersonThere;
}

/** Asks a user who has just proven their account whether the identity should sign them in from now on. */
export function LinkConfirmationPage({
  ctx,
  action,
  about = 'linkConfirmation',
  provider,
  email,
  there,
}: LinkConfirmationPageProps) {
  const { t } = ctx;
  return (
    <ProviderQuestion
      ctx={ctx}
      title={t(`federation.${about}.title`, { provider })}
      lead={t(`federation.${about}.lead`, { provider })}
      accounts={[
        { label: t(`federation.${about}.there`, { provider }), amount: personLine(there) },
        { label: t(`federation.${about}.here`), amount: email },
      ]}
      note={t(`federation.${about}.notYours`, { provider })}
    >
      <form className="actions even" method="post" action={action}>
        <Button name="act" value="not-now" kind="quiet">
          {t(`federation.${about}.notNow`)}
        </Button>
        <Button name="act" value="link">
          {t(`federation.${about}.link`)}
        </Button>
      </form>
    </ProviderQuestion>
  );
}
