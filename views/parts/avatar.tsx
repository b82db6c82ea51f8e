import type { PageUser } from '../page-context.ts';

/**
 * A user's picture, or their initials in a circle; if a picture does not load the initials stay. The name beside it is
 * the accessible one.
 */
export function Avatar({ member, size }: { member: Pick<PageUser, 'initials' | 'pictureUrl'>; size?: 'large' }) {
  return (
    <span className={size === 'large' ? 'avatar large' : 'avatar'} aria-hidden="true">
      <span>{member.initials}</span>
      {member.pictureUrl !== undefined && <img src={member.pictureUrl} alt="" />}
    </span>
  );
}
