// Emoji by their names, as far as people use them at work. One that isn't here keeps its name.

const TABLE = `
white_check_mark ✅ heavy_check_mark ✔️ ballot_box_with_check ☑️ x ❌ heavy_multiplication_x ✖️ no_entry ⛔ no_entry_sign 🚫
hourglass ⌛ hourglass_flowing_sand ⏳ watch ⌚ alarm_clock ⏰ stopwatch ⏱️ timer_clock ⏲️ clock1 🕐 calendar 📆 date 📅
warning ⚠️ rotating_light 🚨 exclamation ❗ question ❓ grey_exclamation ❕ bangbang ‼️ information_source ℹ️ sos 🆘
eyes 👀 wave 👋 tada 🎉 confetti_ball 🎊 rocket 🚀 fire 🔥 sparkles ✨ star ⭐ star2 🌟 zap ⚡ boom 💥 100 💯 dart 🎯
robot_face 🤖 wheel 🛞 ship 🚢 anchor ⚓ compass 🧭 gear ⚙️ wrench 🔧 hammer 🔨 hammer_and_wrench 🛠️ nut_and_bolt 🔩
lock 🔒 unlock 🔓 closed_lock_with_key 🔐 key 🔑 shield 🛡️ bell 🔔 no_bell 🔕 mega 📣 loudspeaker 📢 speech_balloon 💬
thought_balloon 💭 +1 👍 thumbsup 👍 -1 👎 thumbsdown 👎 ok_hand 👌 clap 👏 raised_hands 🙌 pray 🙏 muscle 💪 point_up ☝️
point_right 👉 point_left 👈 point_down 👇 raised_hand ✋ handshake 🤝 writing_hand ✍️ v ✌️ crossed_fingers 🤞 heart ❤️
blue_heart 💙 green_heart 💚 purple_heart 💜 broken_heart 💔 smile 😄 smiley 😃 grinning 😀 grin 😁 joy 😂 rofl 🤣
slightly_smiling_face 🙂 upside_down_face 🙃 wink 😉 blush 😊 heart_eyes 😍 sunglasses 😎 thinking_face 🤔 neutral_face 😐
confused 😕 disappointed 😞 cry 😢 sob 😭 angry 😠 rage 😡 scream 😱 sweat_smile 😅 sleeping 😴 nerd_face 🤓 shrug 🤷
facepalm 🤦 salute 🫡 melting_face 🫠 skull 💀 ghost 👻 see_no_evil 🙈 pause_button ⏸️ stop_button ⏹️ play_or_pause_button ⏯️
arrow_forward ▶️ fast_forward ⏩ rewind ⏪ repeat 🔁 arrows_counterclockwise 🔄 leftwards_arrow_with_hook ↩️ arrow_right ➡️
arrow_left ⬅️ arrow_up ⬆️ arrow_down ⬇️ heavy_plus_sign ➕ heavy_minus_sign ➖ bulb 💡 memo 📝 pencil 📝 pencil2 ✏️
page_facing_up 📄 bookmark_tabs 📑 clipboard 📋 paperclip 📎 link 🔗 pushpin 📌 round_pushpin 📍 file_folder 📁
open_file_folder 📂 card_index_dividers 🗂️ wastebasket 🗑️ package 📦 email 📧 envelope ✉️ inbox_tray 📥 outbox_tray 📤
telephone_receiver 📞 iphone 📱 computer 💻 desktop_computer 🖥️ keyboard ⌨️ printer 🖨️ floppy_disk 💾 database 🗄️
bar_chart 📊 chart_with_upwards_trend 📈 chart_with_downwards_trend 📉 mag 🔍 mag_right 🔎 money_with_wings 💸 moneybag 💰
dollar 💵 credit_card 💳 receipt 🧾 shopping_trolley 🛒 gift 🎁 truck 🚚 airplane ✈️ car 🚗 office 🏢 house 🏠
bank 🏦 factory 🏭 globe_with_meridians 🌐 earth_africa 🌍 sunny ☀️ cloud ☁️ umbrella ☔ snowflake ❄️ rainbow 🌈 seedling 🌱
bug 🐛 ant 🐜 bee 🐝 snail 🐌 turtle 🐢 cat 🐱 dog 🐶 unicorn_face 🦄 whale 🐳 octopus 🐙 coffee ☕ tea 🍵 beer 🍺
beers 🍻 cake 🍰 birthday 🎂 pizza 🍕 cookie 🍪 popcorn 🍿 trophy 🏆 medal 🏅 first_place_medal 🥇 checkered_flag 🏁
triangular_flag_on_post 🚩 white_circle ⚪ black_circle ⚫ red_circle 🔴 large_blue_circle 🔵 large_green_circle 🟢
large_yellow_circle 🟡 large_orange_circle 🟠 large_blue_square 🟦 white_large_square ⬜ black_large_square ⬛
test_tube 🧪 microscope 🔬 balance_scale ⚖️ scales ⚖️ construction 🚧 traffic_light 🚦 ticket 🎫 label 🏷️ crystal_ball 🔮
brain 🧠 bust_in_silhouette 👤 busts_in_silhouette 👥 technologist 🧑‍💻 detective 🕵️ zzz 💤 new 🆕 ok 🆗 cool 🆒 free 🆓
one 1️⃣ two 2️⃣ three 3️⃣ four 4️⃣ five 5️⃣ six 6️⃣ seven 7️⃣ eight 8️⃣ nine 9️⃣ keycap_ten 🔟 zero 0️⃣`;

const words = TABLE.trim().split(/\s+/);
const EMOJI = new Map(words.flatMap((word, at) => (at % 2 ? [] : [[word, words[at + 1]]])));

export const OFTEN = ["white_check_mark", "eyes", "+1", "-1", "raised_hands", "tada", "heart", "joy", "thinking_face",
  "pray", "rocket", "fire", "x", "warning", "question", "100"];

// `skin-tone-3` and the like are left out.
export const emoji = (name) => EMOJI.get(name.split("::")[0]) ?? `:${name}:`;

export const withEmoji = (text) => text.replace(/:([a-z0-9_+'-]+)(?:::skin-tone-\d)?:/g, (whole, name) => EMOJI.get(name) ?? whole);
