import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';

export interface RequestFormProps {
  ctx: PageContext;
  action: string;
  username: string;
  error?: string | undefined;
}

/** Asks for a code: on the page of its own, and where a code is wanted in a browser that has asked for none. */
export function RequestForm({ ctx, action, username, error }: RequestFormProps) {
  const { t } = ctx;
  return (
    <form className="form" method="post" action={action} noValidate>
      <Field
        name="username"
        label={t('password.request.username')}
        error={error}
        placeholder={t('password.request.placeholder')}
        type="text"
        inputMode="email"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        defaultValue={username}
        autoFocus
      />
      <Button block>{t('password.request.submit')}</Button>
    </form>
  );
}
