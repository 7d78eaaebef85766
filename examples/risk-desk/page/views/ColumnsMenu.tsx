import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { MAX_OWN_COLUMNS, type ListFile } from '../model/upload.ts';
import { ChevronIcon } from './icons.tsx';

interface ColumnsMenuProps {
  readonly file: ListFile;
  readonly chosen: readonly number[];
  readonly onChoose: (own: readonly number[]) => void;
}

/** Which of the list's own columns are in the table. */
export function ColumnsMenu({ file, chosen, onChoose }: ColumnsMenuProps) {
  const { columns } = file.table;
  const all = columns.map((name, id) => ({ id, name })).filter(({ id }) => id !== file.column);
  const full = chosen.length >= MAX_OWN_COLUMNS;
  return (
    <MenuTrigger>
      <Button className="button columns">
        Columns <ChevronIcon />
      </Button>
      <Popover className="popover">
        <p className="popover__says">Up to {MAX_OWN_COLUMNS} of your columns are shown.</p>
        <Menu
          className="listbox"
          aria-label="Your columns in the table"
          items={all}
          selectionMode="multiple"
          selectedKeys={chosen}
          disabledKeys={full ? all.map(({ id }) => id).filter((id) => !chosen.includes(id)) : []}
          onSelectionChange={(keys) =>
            onChoose(all.map(({ id }) => id).filter((id) => keys === 'all' || keys.has(id)))
          }
        >
          {({ id, name }) => (
            <MenuItem id={id} className="listbox__item">
              {name}
            </MenuItem>
          )}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
