import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { useBotSearch } from '../api/bot-names.js'
import { Dialog } from '../ui/dialog.js'
import { everyBot, useScope } from './address.js'
import styles from './palette.module.css'
import { screens } from './screens.js'

interface Target {
  label: string
  /** What kind of thing it is. */
  hint: string
  to: string
}

/** Screens of items by the prefix of their ids. */
const screensOfIds: Record<string, string> = {
  conv: 'conversations',
  delivery: 'deliveries',
  file: 'files',
  job: 'jobs',
}

/** Goes to a screen or a bot by its name, or to anything by its pasted id. */
export function Palette({ onClose }: { onClose: () => void }) {
  const { workspaceId, botId } = useScope()
  const bot = botId ?? everyBot
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const words = text.trim()
  const navigate = useNavigate()
  const listId = useId()
  // The server looks for the longest word among the names of all bots, this page for the others.
  const longest = words.split(/\s+/).toSorted((a, b) => b.length - a.length)[0] ?? ''
  const bots = useBotSearch(longest.slice(0, 200))
  const targets: Target[] = [
    ...idTargets(words, `/${workspaceId}/${bot}`),
    ...screens.map(({ label, path }) => ({
      label,
      hint: 'Screen',
      to: `/${workspaceId}/${bot}/${path}`,
    })),
    ...(bots.data?.bots ?? []).map(({ id, name }) => ({
      label: name || id,
      hint: 'Bot',
      to: `/${workspaceId}/${id}/home`,
    })),
  ].filter(({ label, hint }) => hint === 'Id' || isMatch(words, label))
  const current = Math.min(chosen, targets.length - 1)
  const go = (target: Target | undefined) => {
    if (target === undefined) return
    onClose()
    void navigate({ to: target.to })
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="search"
        role="combobox"
        className={styles.input}
        aria-label="Screen, bot or id"
        placeholder="Screen, bot or id"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={targets.length > 0 ? `${listId}-${current}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setChosen(Math.min(current + 1, targets.length - 1))
          else if (event.key === 'ArrowUp') setChosen(Math.max(current - 1, 0))
          else if (event.key === 'Enter') go(targets[current])
          else return
          event.preventDefault()
        }}
      />
      <div role="listbox" id={listId} aria-label="Targets" className={styles.targets}>
        {targets.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the box above
          <div
            // The home of a bot is a screen as well as a bot.
            key={`${target.hint} ${target.to}`}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            className={styles.target}
            onClick={() => go(target)}
          >
            <span>{target.label}</span>
            <span className="muted">{target.hint}</span>
          </div>
        ))}
      </div>
      {targets.length === 0 && <p className="muted">Nothing matches.</p>}
    </Dialog>
  )
}

function isMatch(words: string, label: string): boolean {
  const name = label.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.includes(word))
}

/** Where an id leads that was pasted. */
function idTargets(text: string, base: string): Target[] {
  const [prefix = ''] = text.split('_')
  const screen = screensOfIds[prefix]
  if (screen === undefined || !/^[a-z]+_\w{10,}$/.test(text)) return []
  return [{ label: text, hint: 'Id', to: `${base}/${screen}/${text}` }]
}
