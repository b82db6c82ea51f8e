import { DoorLayout } from '../layout/door-layout.tsx';
import { Notice } from '../parts/notice.tsx';
import { Script } from '../parts/script.tsx';
import { RequestForm, type RequestFormProps } from './request-form.tsx';

export interface ForgotPasswordPageProps extends RequestFormProps {
  /** Back to the sign-in, with what it was for. */
  signInHref: string;
  problem?: { title: string; text: string };
}

/** 'Password Request' (specification, section 2). */
export function ForgotPasswordPage({ signInHref, problem, ...form }: ForgotPasswordPageProps) {
  const { ctx } = form;
  const { t } = ctx;
  return (
    <DoorLayout ctx={ctx} nav="signIn">
      <Script ctx={ctx} entry="busy" />
      <div className="panel-head">
        <h1>{t('password.request.heading')}</h1>
        <p className="muted">{t('password.request.lead')}</p>
      </div>
      {problem !== undefined && (
        <Notice kind="error" title={problem.title}>
          {problem.text}
        </Notice>
      )}
      <RequestForm {...form} />
      <p className="panel-foot muted">
        <a href={signInHref}>{t('password.request.remembered')}</a>
      </p>
    </DoorLayout>
  );
}
