"""What an app may send, and what a page makes of it."""

from __future__ import annotations

from typing import Final

from bot.sandbox.wire import Json


def words(text: str) -> Json:
    return {"type": "plain_text", "text": text}


_OPTIONS: Final = [{"text": words(name), "value": name} for name in ("Red", "Green", "Blue")]
_IMAGE: Final = {"alt_text": "a picture", "image_url": "https://images.example/1.png"}
_BUTTON: Final = {"type": "button", "text": words("Press")}
_RICH: Final = {
    "type": "rich_text",
    "elements": [
        {"type": "rich_text_section", "elements": [{"type": "text", "text": "some words"}]}
    ],
}
_TASK: Final = {"type": "task_card", "title": "Look it up", "status": "complete", "output": _RICH}
_ELEMENTS: Final[list[Json]] = [
    _BUTTON,
    {"type": "overflow", "options": _OPTIONS},
    {"type": "static_select", "placeholder": words("A colour"), "options": _OPTIONS},
    {"type": "external_select", "placeholder": words("Search")},
    {"type": "users_select", "placeholder": words("A person")},
    {"type": "conversations_select", "placeholder": words("A conversation")},
    {"type": "channels_select", "placeholder": words("A channel")},
    {"type": "multi_static_select", "placeholder": words("Colours"), "options": _OPTIONS},
    {"type": "multi_external_select", "placeholder": words("Search some")},
    {"type": "multi_users_select", "placeholder": words("People")},
    {"type": "multi_conversations_select", "placeholder": words("Conversations")},
    {"type": "multi_channels_select", "placeholder": words("Channels")},
    {"type": "datepicker"},
    {"type": "timepicker"},
    {"type": "datetimepicker"},
    {"type": "checkboxes", "options": _OPTIONS},
    {"type": "radio_buttons", "options": _OPTIONS},
]
_INPUTS: Final[list[Json]] = [
    {"type": "plain_text_input", "multiline": True},
    {"type": "number_input", "is_decimal_allowed": False},
    {"type": "email_text_input"},
    {"type": "url_text_input"},
]
_ROWS: Final = [[{"type": "raw_text", "text": text} for text in row] for row in ("ab", "cd", "ef")]

#: Of each type that a message may hold, with each element that it may hold.
EVERY_BLOCK: Final[list[Json]] = [
    {"type": "header", "text": words("A header")},
    {"type": "divider"},
    {"type": "section", "text": words("words " * 40), "accessory": {"type": "image", **_IMAGE}},
    {"type": "section", "fields": [words("one"), words("two")]},
    *({"type": "section", "text": words("words"), "accessory": element} for element in _ELEMENTS),
    {"type": "actions", "elements": _ELEMENTS},
    {"type": "context", "elements": [words("words"), {"type": "image", **_IMAGE}]},
    {
        "type": "context_actions",
        "elements": [
            {"type": "icon_button", "icon": "trash", "text": words("Remove")},
            {
                "type": "feedback_buttons",
                "positive_button": {"text": words("Good"), "value": "1"},
                "negative_button": {"text": words("Bad"), "value": "0"},
            },
        ],
    },
    {"type": "image", **_IMAGE, "title": words("A title")},
    _RICH,
    {"type": "markdown", "text": "# Title\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
    {"type": "table", "rows": _ROWS},
    {"type": "data_table", "caption": "Letters", "rows": _ROWS, "page_size": 1},
    {**_TASK, "task_id": "one"},
    {"type": "plan", "title": "The plan", "tasks": [{**_TASK, "task_id": "two"}]},
    {"type": "card", "title": words("A card"), "actions": [_BUTTON]},
    {"type": "carousel", "elements": [{"type": "card", "title": words(name)} for name in "abcde"]},
    {"type": "container", "title": words("A container"), "child_blocks": [{"type": "divider"}]},
    *(
        {"type": "input", "label": words("A label"), "element": element, "dispatch_action": True}
        for element in _INPUTS
    ),
    {
        "type": "video",
        "title": words("A film"),
        "alt_text": "a film",
        "video_url": "https://video.example/1",
        "thumbnail_url": "https://video.example/1.png",
    },
    {"type": "call", "call_id": "R1"},
]
NOT_DRAWN: Final = ["block call", "the video itself"]


def _rich(kind: str, **facts: object) -> Json:
    section = {"type": "rich_text_section", "elements": [{"type": kind, **facts}]}
    return {"blocks": [{"type": "rich_text", "elements": [section]}]}


#: Of messages that Slack takes: what no page can draw, by what it is of which that is said.
UNFORESEEN: Final[list[tuple[Json, str]]] = [
    (_rich("emoji", name="x", unicode="ffffffff"), "block rich_text"),
    (_rich("text", text="a", style=None), "block rich_text"),
    ({"blocks": [{"type": "markdown", "text": ">" * 9000}]}, "block markdown"),
    ({"attachments": [{"text": 5}]}, "attachment"),
]
#: What would be fetched from elsewhere if it were more than a colour.
NO_COLOUR: Final = _rich("color", value="url(https://images.example/seen)")

MRKDWN: Final = {
    "*a* _b_ ~c~ `d*e*`": "<strong>a</strong> <em>b</em> <s>c</s> <code>d*e*</code>",
    "*_~x~_* a*b*c * x * _so_me_": (
        "<strong><em><s>x</s></em></strong> a*b*c * x * <em>so_me</em>"
    ),
    "&gt; q\nplain": "<blockquote>q</blockquote>plain",
    "a\n&gt;&gt;&gt; b\nc": "a\n<blockquote>b\nc</blockquote>",
    "```\n&gt; a *b*\n```\n&gt; q": "<pre>&gt; a *b*</pre><blockquote>q</blockquote>",
    "<https://x.example?a=1&amp;b=2|here>": '<a href="https://x.example?a=1&amp;b=2">here</a>',
    "<javascript:alert(1)|here>": "here",
    "&amp;lt;b&amp;gt; &lt;i&gt;": "&amp;lt;b&amp;gt; &lt;i&gt;",
    ":+1::tada: 12:30:45 :nothing:": "👍🎉 12:30:45 :nothing:",
    "<@U0BOB> <@U0ALICE>": (
        '<span class="mention">@Bob</span> <span class="mention me">@Alice</span>'
    ),
    "<!subteam^S0FINANCE> <#C0OPS> <!here>": (
        '<span class="mention">@finance</span> <span class="mention">#ops</span> '
        '<span class="mention me">@here</span>'
    ),
    "<!date^nothing^{date}|then>": "<time>then</time>",
}
MARKDOWN: Final = {
    "**a** *b* _c_ ~~d~~ ***e***": (
        "<p><strong>a</strong> <em>b</em> <em>c</em> <s>d</s> <strong><em>e</em></strong></p>"
    ),
    "a_b_c 5 * 3 * 2 \\*x\\* `` a`b ``": "<p>a_b_c 5 * 3 * 2 *x* <code>a`b</code></p>",
    "# One\ntext\n## Two": (
        '<h3 class="m-heading" data-level="1">One</h3><p>text</p>'
        '<h4 class="m-heading" data-level="2">Two</h4>'
    ),
    "- a\n  - b\n\n- c\n\n3. d": (
        '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul><ol start="3"><li>d</li></ol>'
    ),
    "```py\n**x**\n```": "<pre><code>**x**</code></pre>",
    "> **q**\n> > r": (
        "<blockquote><p><strong>q</strong></p><blockquote><p>r</p></blockquote></blockquote>"
    ),
    "[a](https://x.example/y_(z)) [b](javascript:alert(1)) <b>": (
        '<p><a href="https://x.example/y_(z)">a</a> b &lt;b&gt;</p>'
    ),
    "---": '<hr class="b-divider">',
}
