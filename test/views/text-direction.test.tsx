import { renderToString } from 'react-dom/server';
import { Field } from '../../views/parts/field.tsx';
import { ProfileMenuView } from '../../views/parts/profile-menu.tsx';

const name = 'ليلى حداد';

describe('Names that are written from right to left', () => {
  it.each([
    [undefined, true],
    ['text', false],
    ['email', false],
    ['tel', false],
    ['password', false],
  ])('A field of type %p follows the direction of its text: %p', (type, expected) => {
    const html = renderToString(<Field name="one" label="One" {...(type !== undefined && { type })} />);
    expect(html.includes('dir="auto"')).toBe(expected);
  });

  it('In the menu the name does not reorder what stands beside it', () => {
    const menu = { label: 'Menu', groups: [], signOut: { action: '/logout', label: 'Log out' } };
    const html = renderToString(
      <ProfileMenuView {...menu} member={{ name, email: 'layla@example.com', initials: 'LH' }} />,
    );
    expect(html).toContain(`<strong dir="auto">${name}</strong>`);
    expect(html).toMatch(new RegExp(`<span class="menu-name" dir="auto"[^>]*>${name}</span>`));
  });
});
