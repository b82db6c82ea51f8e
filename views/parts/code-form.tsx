import type { ReactNode } from 'react';
import type { PageContext } from '../page-context.ts';
import { CodeInput, type CodeInputProps, type NewestCode } from './code-input.tsx';
import { Resend, ResendForm, type ResendTexts } from './resend.tsx';

interface CodeFormProps extends Pick<CodeInputProps, 'label' | 'incomplete' | 'value' | 'error' | 'hint'> {
  ctx: PageContext;
  action: string;
  newest?: NewestCode | undefined;
  /** Undefined: no code is sent. */
  resend?: Omit<ResendTexts, 'action'>;
  /** Above the code, whose last digit sends the form. */
  options?: ReactNode;
  /** Below the code: at least the button. */
  children: ReactNode;
}

/** The form of a one-time code, which is the first thing on its page. */
export function CodeForm({ ctx, action, options, children, resend, ...texts }: CodeFormProps) {
  return (
    <>
      <form className="form" method="post" action={action} noValidate>
        {options}
        <CodeInput
          ctx={ctx}
          name="code"
          length={6}
          {...texts}
          resend={resend && <Resend ctx={ctx} action={action} {...resend} />}
          autoFocus
          isAlone
        />
        {children}
      </form>
      {resend && <ResendForm action={action} />}
    </>
  );
}
