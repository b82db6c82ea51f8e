import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { AccountAction, ActButtons, type ActionProblem } from './account-action.tsx';

export interface NamePageProps {
  ctx: PageContext;
  action: string;
  values: { givenName: string; familyName: string };
  errors: { givenName?: string; familyName?: string };
  problem?: ActionProblem;
}

/** 'Edit Name' (specification, section 2). */
export function NamePage({ ctx, action, values, errors, problem }: NamePageProps) {
  const { t } = ctx;
  const atFamilyName = errors.familyName !== undefined && errors.givenName === undefined;
  return (
    <AccountAction
      ctx={ctx}
      id="edit-name"
      title={t('settings.name.title')}
      lead={t('settings.name.lead')}
      tab="sign-in"
      problem={problem}
    >
      <form className="form" method="post" action={action} noValidate>
        <Field
          name="given_name"
          label={t('settings.name.givenName')}
          error={errors.givenName}
          type="text"
          autoComplete="given-name"
          defaultValue={values.givenName}
          autoFocus={!atFamilyName}
        />
        <Field
          name="family_name"
          label={t('settings.name.familyName')}
          error={errors.familyName}
          type="text"
          autoComplete="family-name"
          defaultValue={values.familyName}
          autoFocus={atFamilyName}
        />
        <ActButtons submit={<Button>{t('settings.save')}</Button>} cancel={t('settings.cancel')} tab="sign-in" />
      </form>
    </AccountAction>
  );
}
