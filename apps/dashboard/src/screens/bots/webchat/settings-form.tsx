import { Button } from '../../../ui/button.js'
import { CheckField, Form, SelectField, TextArea, TextField } from '../../../ui/form.js'
import { note, noteFailure } from '../../../ui/toasts.js'
import { type BotWebchat, useWebchatActions } from '../queries.js'
import { type Draft, draftOf, patchOf } from './settings-draft.js'

const languages = [
  { value: '', label: 'That of the browser' },
  { value: 'en', label: 'English' },
  { value: 'de', label: 'Deutsch' },
  { value: 'fr', label: 'Français' },
  { value: 'es', label: 'Español' },
  { value: 'ar', label: 'العربية' },
]

interface SettingsFormProps {
  botId: string
  webchat: BotWebchat
  draft: Draft
  setDraft: (draft: Draft) => void
}

/** Form for the look and the functions of the chat. */
export function SettingsForm({ botId, webchat, draft, setDraft }: SettingsFormProps) {
  const { update } = useWebchatActions(botId)
  const { settings, changed } = webchat
  const text = (name: keyof Draft) => ({
    value: String(draft[name]),
    onChange: ({ target }: { target: { value: string } }) =>
      setDraft({ ...draft, [name]: target.value }),
  })
  const check = (name: 'allowFileUpload' | 'feedbackEnabled' | 'conversationHistory') => ({
    checked: draft[name],
    onChange: ({ target }: { target: { checked: boolean } }) =>
      setDraft({ ...draft, [name]: target.checked }),
  })
  const isKnown = languages.some(({ value }) => value === draft.language)
  return (
    <Form
      submit="Save"
      onSubmit={async () => {
        const saved = await update(patchOf(settings, draft))
        setDraft(draftOf(saved.settings))
        note('The settings are saved.')
      }}
    >
      {(faultOf) => (
        <>
          <TextField
            label="Title"
            maxLength={100}
            hint="Empty for the name of the bot."
            error={faultOf('botName')}
            {...text('botName')}
          />
          <TextArea
            label="Description"
            rows={2}
            maxLength={500}
            hint="Who or what the bot is; shown before the first message."
            error={faultOf('botDescription')}
            {...text('botDescription')}
          />
          <TextField
            label="Picture"
            type="url"
            hint="Address of a picture of the bot."
            error={faultOf('botAvatar')}
            {...text('botAvatar')}
          />
          <TextField label="Colour" type="color" error={faultOf('color')} {...text('color')} />
          <SelectField
            label="Theme"
            options={[
              { value: 'system', label: 'As the browser prefers' },
              { value: 'light', label: 'Light' },
              { value: 'dark', label: 'Dark' },
            ]}
            error={faultOf('themeMode')}
            {...text('themeMode')}
          />
          <SelectField
            label="Side of the button"
            options={[
              { value: 'right', label: 'Right' },
              { value: 'left', label: 'Left' },
            ]}
            error={faultOf('position')}
            {...text('position')}
          />
          <SelectField
            label="Language"
            options={
              isKnown ? languages : [...languages, { value: draft.language, label: draft.language }]
            }
            error={faultOf('language')}
            {...text('language')}
          />
          <TextArea
            label="Greeting"
            maxLength={2000}
            hint="Markdown; shown before the first message."
            error={faultOf('greeting')}
            {...text('greeting')}
          />
          <TextArea
            label="Suggested questions"
            hint="One in each line, at most 8."
            error={faultOf('suggestedQuestions')}
            {...text('questions')}
          />
          <TextField
            label="Placeholder of the message field"
            maxLength={200}
            error={faultOf('composerPlaceholder')}
            {...text('composerPlaceholder')}
          />
          <TextField
            label="Footer"
            maxLength={500}
            hint="Markdown; below the message field."
            error={faultOf('footer')}
            {...text('footer')}
          />
          <CheckField label="Users can send files" {...check('allowFileUpload')} />
          <CheckField label="Users can rate messages" {...check('feedbackEnabled')} />
          <CheckField
            label="Users can open earlier conversations"
            {...check('conversationHistory')}
          />
          {changed.length > 0 && (
            <div>
              <Button
                onClick={() => {
                  update(Object.fromEntries(changed.map((name) => [name, null]))).then((saved) => {
                    setDraft(draftOf(saved.settings))
                    note('The settings follow from the bot again.')
                  }, noteFailure)
                }}
              >
                Reset all settings
              </Button>
            </div>
          )}
        </>
      )}
    </Form>
  )
}
