"""Chat as people type it, by language, a message a line: what only closes, and what asks."""

from __future__ import annotations

# Each asks for nothing.
CLOSING = {
    "en": """
thx
ty!!
tysm 💕
np
k
kk
lol
cu
thnx a bunch
Perfect, that's exactly what I needed. Thanks so much and have a great weekend!
cheers mate
Great job, Hermes, thank you!
ok cool, talk tomorrow
brb
gtg, bye
awesome sauce
alright then, good night
Much appreciated!
you're a lifesaver 🙏
sounds good to me
yup
gotcha, thanks
thanx hermes ur the best
That worked perfectly, thank you so much!
no worries, take care
ttyl
haha nice one
That's all for today, thanks. See you on Monday!
Thank you for your help, I really appreciate it
🎉🎉🎉""",
    "de": """
dankeee
vielen lieben dank!
passt, danke
alles klar, bis dann
jo
tschö mit ö
ciao ciao
super, genau das hab ich gebraucht. Danke und schönes Wochenende!
danke dir, bist ein Schatz
mega, merci
läuft
gn8
Gute Nacht und bis morgen
hdl 😘
oki doki
supi danke
Danke für deine Hilfe!
perfekt, das wars für heute
geil, danke digga
top 👍
hab vielen dank und einen schönen Abend noch
besten Dank im Voraus
na dann, mach's gut
servus
thx, bis später
Wunderbar. Das war's schon, tschüss!
nice, dankeschön
einverstanden, danke""",
    "es": """
gracias!!
mil gracias
ok gracias crack
vale, perfecto
de nada
jajaja
grax
muchísimas gracias por tu ayuda
listo, nos vemos mañana
genial, eso es todo por hoy. ¡Buenas noches!
chao
sale, bye
grcs
un abrazo
Perfecto, justo lo que necesitaba. ¡Muchas gracias y buen fin de semana!
dale, gracias
buenísimo!!
eres el mejor
hasta mañana Hermes
xd
de acuerdo
ta bien
bueno, me voy, cuídate
excelente trabajo, gracias
okis
te lo agradezco mucho
adiosito
gracias totales
que descanses
hasta luego, que tengas buen día""",
    "pt": """
vlw
obg
flw
tks
tmj
valeu, abraço
muito obrigada!
brigadão
blz, até mais
kkkkkk
rsrs
show de bola
beleza, falou
perfeito, era isso que eu precisava. Muito obrigado e bom fim de semana!
boa noite, até amanhã
bjs
tá bom
perfeito, obrigado pela ajuda
joia 👍
fechou, valeu
de nada
massa demais
obrigadinha
tchauzinho
ótimo trabalho, obrigado
você é demais!
fico muito grato
até logo, se cuida
legal, obg
isso aí""",
    "ja": """
ありがとう！
ありがとー
arigatou
otsukaresama
おつ
お疲れ様でした
おつかれさまです！
了解
りょ
りょーかいです
助かりました、ありがとうございます
またね
おやすみなさい
ok、ありがとう
承知しました
かしこまりました
草
www
笑
完璧です！ありがとうございました。良い週末を！
さすがHermes！
どうもありがとう
サンキュー
なるほど、わかりました
それでは失礼します、また明日
ばいばい👋
いいね！
うん、わかった
とても助かりました😊
oyasumi""",
    "fr": """
mdr
merci bcp
de rien
ok super merci
à demain !
bonne soirée et merci encore
ptdr
nickel, c'est parfait
a+
Parfait, c'est exactement ce qu'il me fallait. Merci et bon week-end !""",
    "it": """
grazie mille!!
perfetto, a domani
ok ciao
grz
ottimo lavoro, grazie
va bene""",
    "nl": """
dankjewel
bedankt en tot morgen
prima, dank je wel voor je hulp
doei doei
thx, fijne avond
top""",
    "pl": """
dzięki
dzieki wielkie
dobranoc
super, dziękuję za pomoc
do jutra!""",
    "ru": """
спс
спасибо большое
пасиб
ок, до завтра
хахаха""",
    "zh": """
谢谢
多谢啦
好的，明天见
晚安
哈哈哈哈""",
    "ko": """
감사합니다
ㄱㅅ
ㅋㅋㅋ
네 알겠습니다
수고하셨습니다""",
    "tr": """
teşekkürler
sağol
tamam, görüşürüz
eyvallah""",
    "hi": """
धन्यवाद
shukriya
dhanyavaad ji
ठीक है, शुभ रात्रि""",
    "mixed": """
thaaank youuu
tysm for your help!!
legend, cheers
okay that's it from me, good night
wow that was quick, thank you
great stuff, ttyl
omg thank you
all sorted now thanks
cheers, have a good one
no that's all, thanks
ok bye 👋😄
I'm off to bed, good night Hermes
super hilfreich, danke dir!
okay, dann schönen Feierabend
ach so, alles klar
jo passt, merci
danke schon mal
na gut, tschüssi
Danke, das war super hilfreich. Bis nächste Woche!
top, vielen dank euch
perfekt danke, schönen Sonntag noch
okay gracias, eso sería todo
gracias por la ayuda, que tengas buena noche
muy amable, saludos
jajajaja buenísimo
uy gracias
excelente, nos hablamos mañana
ok, muchas gracias Hermes, hasta el lunes
muito obrigado mesmo, você é incrível
valeu demais!
ok obrigada, boa semana
kkkkk adorei
show, até segunda
brigada viu
tá ótimo, obrigado
ありがとうございました、おやすみなさい
すごく助かった、ありがとね
了解！ではまた明日
本当にありがとう😭
お疲れさまでした、また来週
はーい、ありがとう
なるほど〜
merci à toi, bonne nuit
super, merci beaucoup, à lundi
ok top, bonne journée
grazie davvero, buona serata
ok perfetto, a presto
dank je, slaap lekker
super dzięki, miłego dnia
спасибо, ты лучший
ладно, спокойной ночи
太谢谢你了，晚安
好的谢谢啦
고맙습니다! 좋은 하루 되세요
넵 감사합니다ㅎㅎ
çok sağ ol, iyi geceler
bahut shukriya bhai
tack så mycket, ha det
ok ok""",
}

# Each asks for something, or tells what to do.
ASKING = {
    "en": """
thanks for fixing the build
yes, do it
no, the second one
ok, delete it
go on
thanks, what about the pump
Thanks! One more thing: the invoice for March
thank you letter to grandma
good night routine for the baby
goodbye lenin
lol cats folder
cool down period after running
nice, France
bye bye birdie script
ty cobb stats
np hard problems
ok go ahead and merge
yes but only for staging
great barrier reef trip
sure, use the blue one
thanks but it still fails
hi, boiler again
perfect pitch exercises
lol why
thanks 4 the 2nd draft, now the 3rd
good, next step
k means clustering
hello world in rust
Awesome. Now the same for Berlin
no thanks, keep it""",
    "de": """
danke, und der Heizkessel
ja, mach das
nein, das zweite
Danke fürs Reparieren der Pumpe
gute Nacht Geschichte für Emma
Tschüss-Karte für Oma
passt die Schraube
alles klar wie ist der Plan
super Mario Level
ok, lösch es
Danke, jetzt noch die Rechnung
ciao bella Rezept
top 10 Bücher
weiter
Grüße an Peter ausrichten
Bis morgen brauche ich den Bericht
schönes Wochenende planen
danke aber das stimmt nicht
moin, wo liegt der Vertrag
Servus TV Programm
Mahlzeit planen
ja genau, und wer war das
klar Schiff machen
nee, lieber rot
gern, aber erst den Test
Hallo Welt Programm
Perfekt. Und jetzt auf Englisch
lg oder samsung
hdl cholesterin
merci schokolade bestellen""",
    "es": """
gracias por arreglar la caldera
sí, hazlo
no, la segunda
vale, borra eso
ok y la factura
tarjeta de gracias para mamá
buenas noches cuento
adiós a las armas resumen
genial, ahora en inglés
gracias pero no funciona
dale, sube los cambios
hola mundo en python
chao pescado receta
listo el informe
perfecto, siguiente
gracias, dónde está el manual
jaja y la bomba
hasta luego cocodrilo letra
sigue
mejor el rojo
bueno bonito y barato tiendas
buenos días, necesito la contraseña del wifi
de acuerdo al contrato
sale el tren
hasta mañana tengo plazo
vale de descuento
abrazo partido pelicula
sí pero solo en pruebas
gracias, una cosa más
nada de eso, cámbialo""",
    "pt": """
obrigado por arrumar a bomba
sim, faz isso
não, a segunda
beleza, apaga
valeu, e a caldeira
boa noite cinderela
cartão de obrigado pra vovó
legal, agora em inglês
obrigado mas não funciona
tchau querida livro
show do milhão
massa de bolo
joia rara personagens
continua
olá mundo em java
blz, qual a senha
fechou a conta
perfeito. E o contrato
até logo mais preciso do relatório
isso aí está errado
bom dia, cadê o manual
ok manda
oi, a fatura de março
prefiro o azul
pode ser, mas só amanhã
valeu a pena
abraço de urso
kkk mas e o prazo
bjs da vó receita
tá bom de sal""",
    "ja": """
ありがとう、次はポンプ
はい、お願いします、削除して
いや、二番目
おやすみの絵本
了解、続けて
お疲れ様会の予約
草刈り
笑点の時間
ありがとうカードの作り方
わかりました、でも青で
続けて
会議の資料
ボイラー
またね、の英語
すみません、パスワードは
それは違う
さようならの手紙
なるほど、それで圧力は
OK牧場
こんにちは、鍵を探して
もう一度
うん、やって
完璧な卵焼き
いいねの数
ありがとうございます。请求書もお願い
おつかれ、報告書まだ
りょうりのレシピ
すごい人の名前
どういたしまして英語
良い週末の過ごし方""",
    "fr": """
merci d'avoir réparé la pompe
oui, fais-le
non, la deuxième
bonne nuit les petits
super, et la chaudière
d'accord mais en bleu
merci, ensuite
à demain le rapport
carte de merci
vas-y""",
    "it": """
grazie per aver sistemato la pompa
sì, fallo
no, il secondo
ciao mondo in java
perfetto, adesso il contratto
va bene il rosso""",
    "nl": """
bedankt, en de ketel
ja, doe maar
nee, de tweede
welterusten verhaal
top, nu in het engels
dank je kaart""",
    "pl": """
dzięki, a kocioł
tak, zrób to
nie, drugi
dobranoc bajka
super, teraz po angielsku""",
    "ru": """
спасибо, а насос
да, сделай
нет, второй
спокойной ночи малыши
пока не работает""",
    "zh": """
谢谢，锅炉呢
好，删掉
不，第二个
晚安故事
好的继续""",
    "ko": """
감사합니다 보일러는
네 삭제해
아니 두번째
안녕 자두야
계속""",
    "tr": """
teşekkürler, kazan nerede
evet, sil
hayır, ikincisi
tamam devam et""",
    "hi": """
धन्यवाद, बॉयलर
हाँ, कर दो
नहीं, दूसरा
ठीक है आगे""",
    "mixed": """
thanks for the tip about the boiler valve
ok deploy
yes delete them all
no keep the old one
lol that error again
good vibes playlist
night shift roster
nice France hotels
perfect, send it to Anna
cheers lyrics
have a good plan
roger federer
great dane food
ty beanie babies
super bowl snacks
sweet potato soup
later tasks
correct all
clear all
ship it
ja aber welche Pumpe
danke Karte
schönen Tag der Toten Doku
gute Besserung Karte schreiben
bis Montag Rechnung zahlen
klar Lack kaufen
super Plus Preis
stark Industries
Termine
tolle Idee fürs Bad
gracias a la vida letra
sí, la de marzo
luz
buenas ideas para la cena
dale boca
vale 50 euros
grande rio
feliz navidad letra
boa constrictor
obrigado senhor hino
legal
tchau amor letra
sim, o azul
valeu natalina
ありがとう弁当
おやすみモード設定
にわとり
おとな
さくら
すごい雨
いい肉
よろしく哀愁
撒哈拉
太行山
好奇心
谢谢惠顾 广告
오하이오
이더넷
바이오
Nara""",
}

# (message, what of it is to reach the sources whole)
MIXED = (
    ("Thanks! And what is the boiler pressure?", "what is the boiler pressure?"),
    ("ok, now the invoice for March", "the invoice for March"),
    ("No. 5 perfume notes", "No. 5 perfume notes"),
    ("K. Jones address", "K. Jones address"),
    ("Top, left and right margins", "Top, left and right margins"),
    ("Perfect, imperfect and future tense", "Perfect, imperfect and future tense"),
    ("Yes, No, Cancel dialog", "Cancel dialog"),
    ("Reply to Anna: thanks, see you tomorrow", "Reply to Anna: thanks, see you tomorrow"),
    ("Translate to German:\nThank you, see you tomorrow", "Thank you, see you tomorrow"),
    ("Proofread this:\nDear Ann,\nthanks for the book.\nSee you soon!", "See you soon"),
    ("thanks, men clothing sizes", "men clothing sizes"),
    ("ok, et movie year", "et movie year"),
    ("thanks, ale recipes", "ale recipes"),
    ("danke, Mais Anbau", "Mais Anbau"),
    ("ok, E mail settings", "E mail settings"),
    ("さようなら、の英訳", "さようなら、の英訳"),
    ("ありがとう、という歌", "ありがとう、という歌"),
    ("ありがとう、次はポンプの圧力", "次はポンプの圧力"),
    ("谢谢，锅炉压力", "锅炉压力"),
    ("Where is the key? Thanks, bye", "Where is the key?"),
    ("boiler, thanks", "boiler"),
    (
        "Hi Hermes, the boiler is leaking, what do I do? Thanks in advance!",
        "the boiler is leaking, what do I do?",
    ),
    ("yes, the second one", "the second one"),
    ("no, not the red pump", "not the red pump"),
    ("danke, aber nicht die rote Pumpe", "nicht die rote Pumpe"),
    ("gracias, pero la segunda bomba", "la segunda bomba"),
    ("obrigado, mas a segunda bomba", "a segunda bomba"),
    ("merci, et la chaudière", "la chaudière"),
    ("grazie, e la caldaia", "la caldaia"),
    ("thanks how do I reset the router", "how do I reset the router"),
    ("ok ok ok, BM25", "BM25"),
    ("lol what does err_42 mean", "what does err_42 mean"),
    ("thx. x.py:12 fails", "x.py:12 fails"),
    ("Good morning, 3 things: milk, eggs, keys", "3 things: milk, eggs, keys"),
    ("good morning agenda for today", "good morning agenda for today"),
    ("good night story about bees", "good night story about bees"),
    ("bye bye birdie cast", "bye bye birdie cast"),
    ("thank you cards", "thank you cards"),
    ("Hello world in rust, please", "Hello world in rust"),
    ("deploy it, thanks", "deploy it"),
    ("Deploy to prod. Then tell me. Cheers!", "Deploy to prod. Then tell me"),
    ("thanks 👍 boiler manual", "boiler manual"),
    ("boiler manual 👍👍", "boiler manual"),
    ("🚀 launch checklist", "launch checklist"),
    ("find notes tagged ✅", "find notes tagged ✅"),
    ("What does 👍 mean", "What does 👍 mean"),
    ("ok https://example.org/a", "https://example.org/a"),
    ("thanks @anna for the keys", "@anna for the keys"),
    ("thanks #garden plan", "#garden plan"),
    ("super, wie hoch ist der Druck?", "wie hoch ist der Druck?"),
    ("Danke! Noch eine Frage: wer ist der Notar?", "wer ist der Notar?"),
    ("Moin, wo liegt der Vertrag, danke", "wo liegt der Vertrag"),
    ("Der Vertrag liegt bei Anna. Danke, bis morgen!", "Der Vertrag liegt bei Anna"),
    ("ja, Panik Album", "Panik Album"),
    ("¡Hola! ¿Qué presión tiene la caldera? ¡Gracias!", "Qué presión tiene la caldera?"),
    ("buenas, la factura de marzo porfa", "la factura de marzo porfa"),
    ("vale, y la bomba", "la bomba"),
    ("oi, qual a senha do wifi? obg", "qual a senha do wifi?"),
    ("valeu! e a caldeira?", "a caldeira?"),
    ("bom dia, cadê o manual", "cadê o manual"),
    ("こんにちは、鍵はどこですか", "鍵はどこですか"),
    ("鍵はどこですか？ありがとう", "鍵はどこですか"),
    ("了解、青で", "青で"),
    ("すみません、パスワードは", "パスワードは"),
    ("おはよう。会議の資料を出して", "会議の資料を出して"),
    ("감사합니다. 보일러 압력은?", "보일러 압력은"),
    ("안녕하세요, 열쇠 어디 있어요", "열쇠 어디 있어요"),
    ("teşekkürler, kazan basıncı kaç", "kazan basıncı kaç"),
    ("спасибо, а какое давление в котле?", "какое давление в котле?"),
    ("dzięki, a kocioł", "a kocioł"),
    ("bedankt, en de ketel", "de ketel"),
    ("धन्यवाद, बॉयलर का दबाव", "बॉयलर का दबाव"),
    ("شكرا، أين المفتاح", "أين المفتاح"),
    ("תודה, איפה המפתח", "איפה המפתח"),
    ("Cool, cool cool cool. Boiler.", "Boiler"),
    ("Thanks; what's next on the roof list", "what's next on the roof list"),
    ("Nice! The roof - is it slate?", "The roof - is it slate?"),
    ("I said thanks, but the roof leaks", "I said thanks, but the roof leaks"),
    ("Tell Bob ok, thanks for the roof", "Tell Bob ok, thanks for the roof"),
    ("Write: dear Bob, good luck, cheers", "Write: dear Bob, good luck, cheers"),
    ("How do you say: good night", "How do you say: good night"),
    ("Answer no", "Answer no"),
    ("Is it a yes or a no?", "Is it a yes or a no?"),
    ("Yes. 2 pumps, not 3.", "2 pumps, not 3"),
    ("ok 2", "ok 2"),
    ("k8s ingress", "k8s ingress"),
    ("Thanks - one more: the lease ends when?", "the lease ends when?"),
    ("perfect. now in French please", "in French please"),
    ("lovely! same for Berlin, ta", "same for Berlin"),
    ("btw, the pump", "the pump"),
    ("so long and thanks for all the fish author", "so long and thanks for all the fish author"),
    ("no woman no cry chords", "no woman no cry chords"),
    ("Hey Jude chords", "Hey Jude chords"),
    ("ok computer release date", "ok computer release date"),
    ("first, thanks. second, the boiler", "second, the boiler"),
    ("Merci! Autre question : où est la clé ?", "où est la clé"),
    ("Grazie. Dove è la chiave? Ciao!", "Dove è la chiave?"),
    ("no, Monday", "Monday"),
)

# Each says that something is not so, with the word for no.
NEGATED = """
no funciona
no entiendo
no me sirve
no me queda claro
no está bien
no es correcto
no es lo que necesitaba
no funcionó
não entendi
não funcionou
não deu certo
não está certo
não era isso
nao entendi nada
nie rozumiem
nie zgadza się
nie dobrze
nem értem
nem jó
nu e bine
nu am înțeles
不明白
不好
不对
不理解
没搞定
没明白
không hiểu rồi
không tốt
không đúng
tidak paham
tidak benar
tidak bagus
لا فهمت
לא הבנתי
לא טוב
ไม่เข้าใจ
ไม่ดี
ei hyvä
ne rozumím
नहीं समझ गया
όχι καλά
"""

# Each says no, and asks for nothing.
DECLINED = """
no, gracias
no gracias
no, eso es todo, gracias
no no no
não, obrigado
não obrigada
nie, dziękuję
nem, köszönöm
no, thanks
no thanks that's all
不，谢谢
不用了谢谢
không, cảm ơn
tidak, terima kasih
לא, תודה
ไม่ครับ
não!
no 👍
no
nie
不
"""
