import type { ReactNode } from 'react';
import { type PageContext, pageForm } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';
import { EndOthers } from './end-others.tsx';
import { LastSignInMethodNotice, type ListActProps, RowAction, RowActions } from './row-action.tsx';

const listHref = '/settings/passkeys';

type ActProps = Omit<ListActProps, 'place'>;

const PasskeyAct = (props: ActProps) => (
  <RowAction {...props} place={{ href: listHref, heading: props.ctx.t('passkeys.title') }} />
);

const Acts = (props: { ctx: PageContext; children: ReactNode }) => <RowActions {...props} href={listHref} />;

interface PasskeyFormProps {
  ctx: PageContext;
  action: string;
  name: string;
  error?: string | undefined;
  problem?: string | undefined;
}

/** The browser creates the passkey, so this page needs scripts, and says so without them. */
export function PasskeyAddPage({
  options,
  endOthers,
  ...form
}: PasskeyFormProps & { options: object; endOthers?: boolean | undefined }) {
  const { ctx, action, name, error, problem } = form;
  const { t } = ctx;
  return (
    <PasskeyAct
      ctx={ctx}
      id="add-passkey"
      title={t('passkeys.add.title')}
      lead={t('passkeys.add.lead')}
      problem={problem}
    >
      <Script ctx={ctx} entry="passkey-add" />
      <div className="without-script">
        <Notice kind="info">{t('passkeys.add.needsScript')}</Notice>
      </div>
      {(['unsupported', 'none', 'known'] as const).map((why) => (
        <Notice key={why} kind="error" id={`passkey-${why}`} hidden>
          {t(`passkeys.add.${why}`)}
        </Notice>
      ))}
      <form
        className="form"
        id={pageForm}
        method="post"
        action={action}
        data-new-passkey={JSON.stringify(options)}
        noValidate
      >
        <input type="hidden" name="credential" />
        <NameField {...form} name={name} error={error} hint={t('passkeys.add.nameHint')} />
        <EndOthers ctx={ctx} checked={endOthers} />
        <Acts ctx={ctx}>
          <Button>{t('passkeys.add.submit')}</Button>
        </Acts>
      </form>
    </PasskeyAct>
  );
}

export function PasskeyRenamePage(form: PasskeyFormProps) {
  const { ctx, action, problem } = form;
  const { t } = ctx;
  return (
    <PasskeyAct ctx={ctx} id="rename-passkey" title={t('passkeys.renaming.title')} problem={problem}>
      <form className="form" id={pageForm} method="post" action={action} noValidate>
        <NameField {...form} />
        <Acts ctx={ctx}>
          <Button>{t('passkeys.renaming.submit')}</Button>
        </Acts>
      </form>
    </PasskeyAct>
  );
}

interface PasskeyRemovePageProps extends Pick<PasskeyFormProps, 'ctx' | 'action' | 'name'> {
  /** It is the last sign-in method. */
  isLast: boolean;
}

export function PasskeyRemovePage({ ctx, action, name, isLast }: PasskeyRemovePageProps) {
  const { t } = ctx;
  return (
    <PasskeyAct
      ctx={ctx}
      id="remove-passkey"
      title={t('passkeys.removing.title')}
      lead={t('passkeys.removing.lead', { name })}
    >
      {isLast ? (
        <LastSignInMethodNotice ctx={ctx} href={listHref} />
      ) : (
        <form className="form" method="post" action={action}>
          <Acts ctx={ctx}>
            <Button kind="danger">{t('passkeys.removing.submit')}</Button>
          </Acts>
        </form>
      )}
    </PasskeyAct>
  );
}

function NameField({ ctx, name, error, hint }: PasskeyFormProps & { hint?: string }) {
  return (
    <Field
      name="name"
      label={ctx.t('passkeys.add.name')}
      type="text"
      autoComplete="off"
      maxLength={60}
      defaultValue={name}
      error={error}
      {...(hint !== undefined && { hint })}
      autoFocus
    />
  );
}
