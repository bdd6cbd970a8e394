import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { usePathTo } from '../../api/address.js'
import { useMay, useOwnMember } from '../../api/role.js'
import { ConfigurationField } from '../../ui/configuration-field.js'
import { DeleteByName } from '../../ui/delete-by-name.js'
import { Form, NameField, PurposeField, TextArea, TextField } from '../../ui/form.js'
import { Pane } from '../../ui/part.js'
import { linesOf, removedOf, tagsOf } from '../../ui/tags.js'
import { note } from '../../ui/toasts.js'
import { AddressField } from './create-bot.js'
import { MoveBot } from './move-bot.js'
import { type Bot, useBotActions } from './queries.js'

/** The settings of a bot as a form. */
export function BotSettings({ bot }: { bot: Bot }) {
  const { update, remove } = useBotActions()
  const isOwn = useOwnMember()?.userId === bot.createdBy
  const may = useMay()
  const mayDelete = may('bots:manage') || isOwn
  const pathTo = usePathTo()
  const navigate = useNavigate()
  const [name, setName] = useState(bot.name)
  const [url, setUrl] = useState(bot.url ?? '')
  const [description, setDescription] = useState(bot.description ?? '')
  const [tags, setTags] = useState(linesOf(bot.tags))
  const [timeLimit, setTimeLimit] = useState(String(bot.maxExecutionTime ?? ''))
  const [medias, setMedias] = useState(
    bot.medias.map((media) => `${media.name}: ${media.url}`).join('\n'),
  )
  const [configuration, setConfiguration] = useState(
    JSON.stringify(bot.configuration.data, undefined, 2),
  )
  return (
    <Pane>
      <Form
        submit="Save"
        onSubmit={async () => {
          await update(bot.id, {
            name,
            url: url === '' ? null : url,
            description,
            tags: { ...removedOf(bot.tags), ...tagsOf(tags) },
            maxExecutionTime: Number(timeLimit),
            medias: Object.entries(tagsOf(medias)).map(([media, url]) => ({ name: media, url })),
            configuration: { data: parseConfiguration(configuration) },
          })
          note('The settings are saved.')
        }}
      >
        {(faultOf) => (
          <>
            <NameField error={faultOf('name')} value={name} onChange={setName} />
            <AddressField
              hint="Address at which your program listens; empty for none."
              error={faultOf('url')}
              value={url}
              onChange={setUrl}
            />
            <PurposeField
              error={faultOf('description')}
              value={description}
              onChange={setDescription}
            />
            <TextArea
              label="Tags"
              hint="One in each line, such as team: support."
              error={faultOf('tags')}
              value={tags}
              onChange={(event) => setTags(event.target.value)}
            />
            <TextField
              label="Time limit of a call"
              type="number"
              min={0}
              max={86_400}
              step={1}
              placeholder="60"
              hint="Seconds in which the bot must answer; empty for one minute."
              error={faultOf('maxExecutionTime')}
              value={timeLimit}
              onChange={(event) => setTimeLimit(event.target.value)}
            />
            <TextArea
              label="Media files"
              hint="One in each line, such as logo: https://example.com/logo.png."
              error={faultOf('medias')}
              value={medias}
              onChange={(event) => setMedias(event.target.value)}
            />
            <ConfigurationField
              label="Configuration"
              schema={bot.configuration.schema}
              error={faultOf('configuration') ?? faultOf('configuration.data')}
              value={configuration}
              onChange={setConfiguration}
            />
          </>
        )}
      </Form>
      {mayDelete && may('bots:write') && <MoveBot bot={bot} />}
      {mayDelete && (
        <DeleteByName
          what="bot"
          name={bot.name || bot.id}
          consequence="Its conversations, files, keys and deliveries are deleted with it, for ever."
          remove={async () => {
            await remove(bot.id)
            note(`${bot.name || bot.id} is deleted.`)
            void navigate({ to: pathTo('bots') })
          }}
        />
      )}
    </Pane>
  )
}

function parseConfiguration(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`The configuration is not JSON: ${reason}`)
  }
}
