import { RequestPage, type RequestPageProps } from './code-request-page.tsx';

/** 'Password Request' (specification, section 2). */
export function ForgotPasswordPage(props: RequestPageProps) {
  const { t } = props.ctx;
  return (
    <RequestPage
      {...props}
      head={
        <>
          <h1>{t('password.request.heading')}</h1>
          <p className="muted">{t('password.request.lead')}</p>
        </>
      }
    />
  );
}
