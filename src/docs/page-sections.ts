// The sections of the page: a route, a namespace with its messages, a shape that several share, examples to copy.
import type { AsyncApi, Channel, DescribedMessage } from "./asyncapi.ts";
import { type Html, html } from "./html.ts";
import type { Answer, Operation } from "./openapi.ts";
import { inline, prose } from "./prose.ts";
import { type JsonSchema, nameOf } from "./schema-book.ts";
import { fieldTable, typeOf } from "./schema-html.ts";
import type { Snippet } from "./snippets.ts";

/** Where the page has a route: `route-POST-bot-v1-spot-orders`. */
export function routeId(name: string): string {
  return `route-${name.replace(/[^A-Za-z0-9]+/g, "-").replace(/-$/, "")}`;
}

export function routeSection(name: string, operation: Operation): Html {
  const { summary, description, parameters, requestBody, responses } = operation;
  return html`<section aria-labelledby="${routeId(name)}">
<h3 id="${routeId(name)}"><code>${name}</code></h3>
<p>${inline(summary)}</p>
${optional(description, prose)}
${parameters.length === 0 ? nothing : parameterTable(parameters)}
${optional(requestBody?.content["application/json"], (content) => html`<h4>Body</h4>\n${contentSection(content)}`)}
<h4>Answers</h4>
${answerTable(responses)}
${Object.entries(responses)
  .filter(([status]) => status.startsWith("2"))
  .map(([status, { content }]) => html`<h4>${status}</h4>\n${contentSection(content["application/json"])}`)}
</section>`;
}

export function channelSection(
  name: string,
  channel: Channel,
  messages: AsyncApi["components"]["messages"],
): Html {
  return html`<section aria-labelledby="channel-${name}">
<h3 id="channel-${name}"><code>${channel.address}</code></h3>
<p>${channel.description}</p>
${Object.keys(channel.messages).map((event) => {
  const message = messages[`${name}.${event}`];
  if (message === undefined) throw new Error(`a channel's messages are described: ${name}.${event}`);
  return messageSection(message);
})}
</section>`;
}

export function shapeSection(name: string, schema: JsonSchema): Html {
  return html`<h3 id="schema-${name}">${name}</h3>
${optional(schema.description, prose)}
${fieldTable(schema)}`;
}

export function snippetSection(snippets: readonly Snippet[]): Html {
  return html`${snippets.map(({ title, text }) => html`<h4>${title}</h4>\n${copyable(text)}`)}`;
}

const nothing = html``;

function messageSection({ name, title, summary, description, payload, examples }: DescribedMessage): Html {
  return html`<h4><code>${name}</code> <span class="quiet">${title.toLowerCase()}</span></h4>
<p>${inline(summary)}</p>
${optional(description, prose)}
${nameOf(payload) === null ? fieldTable(payload) : html`<p>${typeOf(payload)}</p>`}
${examples.map((example) => copyable(JSON.stringify(example.payload, null, 2)))}`;
}

function parameterTable(parameters: Operation["parameters"]): Html {
  return html`<h4>Parameters</h4>
<div class="wide"><table>
<thead><tr><th>Name</th><th>In</th><th>Type</th><th>Required</th><th>Meaning</th></tr></thead>
<tbody>${parameters.map(
    ({ name, in: place, schema, required, description }) =>
      html`<tr><td><code>${name}</code></td><td>${place}</td><td>${typeOf(schema)}</td><td>${required ? "yes" : "no"}</td><td>${inline(description)}</td></tr>`,
  )}</tbody>
</table></div>`;
}

function answerTable(responses: Readonly<Record<string, Answer>>): Html {
  return html`<div class="wide"><table>
<thead><tr><th>HTTP</th><th>When</th><th>Body</th></tr></thead>
<tbody>${Object.entries(responses).map(
    ([status, { description, content }]) =>
      html`<tr><td>${status}</td><td>${inline(description)}</td><td>${typeOf(content["application/json"].schema)}</td></tr>`,
  )}</tbody>
</table></div>`;
}

function contentSection({ schema, example }: Answer["content"]["application/json"]): Html {
  const shape = nameOf(schema) === null ? fieldTable(schema) : html`<p>${typeOf(schema)}</p>`;
  return html`${shape}\n${optional(example, (value) => copyable(JSON.stringify(value, null, 2)))}`;
}

/** One click selects the whole of it. */
function copyable(text: string): Html {
  return html`<pre class="copy"><code>${text}</code></pre>`;
}

function optional<Value>(value: Value | undefined, write: (value: Value) => Html): Html {
  return value === undefined ? nothing : write(value);
}
