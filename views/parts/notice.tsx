import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

const looks = {
  error: { icon: 'alert', role: 'alert' },
  success: { icon: 'check', role: 'status' },
  info: { icon: 'info', role: undefined },
} as const;

export type NoticeKind = keyof typeof looks;

/** A message about the whole page or form. Errors are announced at once (`role="alert"`). */
export function Notice(props: { kind: NoticeKind; hidden?: boolean; id?: string; children: ReactNode }) {
  const { icon, role } = looks[props.kind];
  return (
    <div className={`notice ${props.kind}`} role={role} hidden={props.hidden} id={props.id}>
      <Icon name={icon} />
      <p>{props.children}</p>
    </div>
  );
}
